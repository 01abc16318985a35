// SPDX-License-Identifier: Apache-2.0
// From checked tensors to the kernel's arguments, but for the addresses; and those.
#ifndef MLMARGIN_OPAPI_PLAN_H_
#define MLMARGIN_OPAPI_PLAN_H_

#include <cstdint>

#include "mlmargin/multilabel_margin_loss.h"
#include "nnopbase/private_api.h"

namespace mlmargin::opapi {

// The sizes, types, scores and labels of a call.
LossArguments PlanCall(const nnopbase::Tensor& self, const nnopbase::Tensor& target,
                       int64_t reduction);

// The strides of a tensor of rank 0 to 2 as a matrix; of one of rank 0 or 1 as a list. Where a
// dimension is never stepped over, whatever the caller gave is replaced.
ConstMatrix PlanInput(const nnopbase::Tensor& tensor);
Matrix PlanOutput(const nnopbase::Tensor& tensor);
int64_t PlanList(const nnopbase::Tensor& tensor);

// The first element of a tensor whose data begins at `data`; null for null.
void* FirstElement(const nnopbase::Tensor& tensor, void* data);

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_PLAN_H_
