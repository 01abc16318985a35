// SPDX-License-Identifier: Apache-2.0
// The checks of phase 1 that look at one argument, or compare it with self. Each gives 161002 with
// the argument, what was expected and what came. Pure: nothing is written or kept.
//
// In which order an operator makes them is in its check.cc and in docs/api.md.
#ifndef MLMARGIN_OPAPI_CHECKS_H_
#define MLMARGIN_OPAPI_CHECKS_H_

#include <cstdint>

#include "nnopbase/private_api.h"

namespace mlmargin::opapi {

// ---- Data types ----------------------------------------------------------------------------

// self: FLOAT, FLOAT16 or BF16. target: INT32 or INT64.
nnopbase::Status CheckSelfDataType(const nnopbase::Tensor& self);
nnopbase::Status CheckTargetDataType(const nnopbase::Tensor& target);

// `tensor`, the argument of that name, has the data type of self.
nnopbase::Status CheckSameDataType(const char* argument, const nnopbase::Tensor& tensor,
                                   const nnopbase::Tensor& self);

// ---- Shapes --------------------------------------------------------------------------------

// (N, C), (C) or 0-D, with C >= 1.
nnopbase::Status CheckSelfShape(const nnopbase::Tensor& self);

// The shape of self; 0-D and (1) are interchangeable.
nnopbase::Status CheckSameShape(const char* argument, const nnopbase::Tensor& tensor,
                                const nnopbase::Tensor& self);

// The shape of target; for an empty batch any empty shape of at most 2 dimensions.
nnopbase::Status CheckMaskShape(const nnopbase::Tensor& is_target, const nnopbase::Tensor& target,
                                const nnopbase::Tensor& self);

// The loss, or the gradient by it: (N) for reduction 0 and self (N, C), else one element of at
// most 1-D. An unknown reduction has no right shape and passes: CheckReduction will name it.
nnopbase::Status CheckLossShape(const char* argument, const nnopbase::Tensor& tensor,
                                const nnopbase::Tensor& self, int64_t reduction);

// ---- Attributes ----------------------------------------------------------------------------

nnopbase::Status CheckReduction(int64_t reduction);

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_CHECKS_H_
