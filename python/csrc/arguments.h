// SPDX-License-Identifier: Apache-2.0
// From tensors to the arguments of the C++ API. Every check raises c10::Error, Python's
// RuntimeError, which names the argument, what was expected and what came.
#ifndef MLMARGIN_PYTHON_ARGUMENTS_H_
#define MLMARGIN_PYTHON_ARGUMENTS_H_

#include <ATen/ATen.h>

#include <cstdint>

#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::pytorch {

enum class Layout {
  kTarget,  // PyTorch's: label lists of the shape of the scores.
  kPadded,  // Label lists of any length.
  kCsr,     // Label lists end to end, and where each begins.
};

// The label lists of a batch.
struct Labels {
  Layout layout = Layout::kTarget;
  at::Tensor list;     // (N, K) or (K); for kCsr (all labels).
  at::Tensor offsets;  // (N + 1), for kCsr only.

  const char* name() const { return layout == Layout::kCsr ? "indices" : "target"; }
};

inline Labels ListLabels(const at::Tensor& list, bool padded) {
  return {padded ? Layout::kPadded : Layout::kTarget, list, {}};
}
inline Labels CsrLabels(const at::Tensor& offsets, const at::Tensor& indices) {
  return {Layout::kCsr, indices, offsets};
}

ScoreType ScoreTypeOf(at::ScalarType type, const char* argument);
LabelType LabelTypeOf(const at::Tensor& tensor, const char* argument);
Reduction ReductionOf(int64_t reduction);  // 0, 1, 2: none, mean, sum, as in at::Reduction.

// A matrix of `tensor`, which has at most 2 dimensions: those with fewer are one row.
ConstMatrix ConstMatrixOf(const at::Tensor& tensor);

// Checks types, shapes and devices; the result has all but outputs and gradients.
LossArguments CheckedArguments(const at::Tensor& input, const Labels& labels, int64_t reduction);

// The sizes of the loss: (N) for `none` of a batch, else ().
at::DimVector LossSizes(const at::Tensor& input, int64_t reduction);

// The gradient by the loss, as backward gets it.
void CheckGradOutput(const at::Tensor& grad_output, const at::Tensor& input, int64_t reduction);

void CheckSameDevice(const at::Tensor& tensor, const char* argument, const at::Tensor& input);
void CheckStatus(const Status& status);
// `labels` names the argument and classes are [0, classes).
void CheckLabels(const BadLabels& bad, const char* labels, int64_t classes);

}  // namespace mlmargin::pytorch

#endif  // MLMARGIN_PYTHON_ARGUMENTS_H_
