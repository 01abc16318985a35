// SPDX-License-Identifier: Apache-2.0
// The checks of how the tensors of a call lie in memory: formats, views, overlaps. Each gives
// 161002 with the argument, what was expected and what came. Pure: nothing is written or kept.
#ifndef MLMARGIN_OPAPI_VIEW_CHECKS_H_
#define MLMARGIN_OPAPI_VIEW_CHECKS_H_

#include <cstddef>
#include <span>

#include "nnopbase/private_api.h"

namespace mlmargin::opapi {

struct NamedTensor {
  const char* name;  // As in the operator's prototype.
  const nnopbase::Tensor* tensor;
};

// `tensors` are all those of a call, of rank 0 to 2, in the order of the executor's addresses:
// `num_inputs` inputs, then the outputs.
//
// In this order, each for all tensors: a format that says "as the dimensions stand"; a view inside
// its storage; no two elements of an output on one address; overlaps, as far as addresses are set.
nnopbase::Status CheckViews(std::span<const NamedTensor> tensors, size_t num_inputs);

// No output shares a byte with an input or another output. A null address is not judged.
nnopbase::Status CheckOverlaps(std::span<const NamedTensor> tensors, size_t num_inputs,
                               std::span<void* const> addresses);

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_VIEW_CHECKS_H_
