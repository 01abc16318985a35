// SPDX-License-Identifier: Apache-2.0
// The checks of phase 1, in the order that docs/api.md lists. Pure: nothing is written or kept.
#ifndef MLMARGIN_OPAPI_MULTILABEL_MARGIN_LOSS_BACKWARD_CHECK_H_
#define MLMARGIN_OPAPI_MULTILABEL_MARGIN_LOSS_BACKWARD_CHECK_H_

#include <cstdint>
#include <memory>
#include <span>

#include "nnopbase/private_api.h"

namespace mlmargin::opapi {

// The tensors of one call, in the order of the executor's addresses.
struct BackwardTensors {
  std::shared_ptr<const nnopbase::Tensor> grad_output, self, target, is_target, grad_input;
};

// dtypes, shapes, formats, views inside their storage, overlaps (as far as addresses are known),
// reduction: 161002 with the argument, what was expected and what came.
nnopbase::Status CheckArguments(const BackwardTensors& tensors, int64_t reduction);

// gradInput shares no byte with another tensor; `addresses` in the order of BackwardTensors. A
// null address is not judged.
nnopbase::Status CheckOverlaps(const BackwardTensors& tensors, std::span<void* const> addresses);

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_MULTILABEL_MARGIN_LOSS_BACKWARD_CHECK_H_
