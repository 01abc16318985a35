// SPDX-License-Identifier: Apache-2.0
// Looks at the results before they are timed: a fast wrong answer is worth nothing. The tests prove
// exactness; this only has to notice that something else was computed.
#ifndef BENCH_CHECK_H_
#define BENCH_CHECK_H_

#include "batch.h"

namespace mlmargin::bench {

// Calls the loss with the number of threads in force and compares its mask, some of its row losses
// with a double loop, and their mean. Throws std::runtime_error if anything is wrong. Leaves the
// row losses in tensors->losses.
void CheckResults(const Batch& batch, Tensors* tensors);

// Computes the gradient and checks that each row's adds up to nothing, but not all of it is zero.
void CheckGradient(Tensors* tensors);

// Compares the mean of the first `rows` row losses in tensors.losses with PyTorch's mean of them.
void CheckAgainstPyTorch(const Tensors& tensors, int64_t rows, double pytorch_mean);

// Calls the loss for `arguments`; throws std::runtime_error with its message if it fails.
void CallLoss(const LossArguments& arguments);

}  // namespace mlmargin::bench

#endif  // BENCH_CHECK_H_
