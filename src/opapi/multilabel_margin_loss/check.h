// SPDX-License-Identifier: Apache-2.0
// The checks of phase 1, in the order that docs/api.md lists. Pure: nothing is written or kept.
#ifndef MLMARGIN_OPAPI_MULTILABEL_MARGIN_LOSS_CHECK_H_
#define MLMARGIN_OPAPI_MULTILABEL_MARGIN_LOSS_CHECK_H_

#include <cstdint>
#include <span>

#include "nnopbase/private_api.h"

namespace mlmargin::opapi {

// The tensors of one call, in the order of the executor's addresses.
struct LossTensors {
  std::shared_ptr<const nnopbase::Tensor> self, target, out, is_target;
};

// dtypes, shapes, formats, views inside their storage, overlaps (as far as addresses are known),
// reduction: 161002 with the argument, what was expected and what came.
nnopbase::Status CheckArguments(const LossTensors& tensors, int64_t reduction);

// No output shares a byte with an input or the other output; `addresses` in the order of
// LossTensors. A null address is not judged.
nnopbase::Status CheckOverlaps(const LossTensors& tensors, std::span<void* const> addresses);

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_MULTILABEL_MARGIN_LOSS_CHECK_H_
