// SPDX-License-Identifier: Apache-2.0
#include "opapi/multilabel_margin_loss/check.h"

#include <array>

#include "opapi/checks.h"
#include "opapi/view_checks.h"

namespace mlmargin::opapi {

using nnopbase::Status;

namespace {

constexpr size_t kNumInputs = 2;

std::array<NamedTensor, 4> AllOf(const LossTensors& t) {
  return {{{"self", t.self.get()},
           {"target", t.target.get()},
           {"out", t.out.get()},
           {"isTarget", t.is_target.get()}}};
}

}  // namespace

Status CheckArguments(const LossTensors& tensors, int64_t reduction) {
  const auto& [self, target, out, is_target] = tensors;
  MLMARGIN_RETURN_IF_ERROR(CheckSelfDataType(*self));
  MLMARGIN_RETURN_IF_ERROR(CheckTargetDataType(*target));
  MLMARGIN_RETURN_IF_ERROR(CheckSameDataType("out", *out, *self));
  MLMARGIN_RETURN_IF_ERROR(CheckSameDataType("isTarget", *is_target, *self));
  MLMARGIN_RETURN_IF_ERROR(CheckSelfShape(*self));
  MLMARGIN_RETURN_IF_ERROR(CheckSameShape("target", *target, *self));
  MLMARGIN_RETURN_IF_ERROR(CheckMaskShape(*is_target, *target, *self));
  MLMARGIN_RETURN_IF_ERROR(CheckLossShape("out", *out, *self, reduction));
  MLMARGIN_RETURN_IF_ERROR(CheckViews(AllOf(tensors), kNumInputs));
  return CheckReduction(reduction);
}

Status CheckOverlaps(const LossTensors& tensors, std::span<void* const> addresses) {
  return CheckOverlaps(AllOf(tensors), kNumInputs, addresses);
}

}  // namespace mlmargin::opapi
