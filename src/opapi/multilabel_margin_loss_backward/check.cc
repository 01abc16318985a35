// SPDX-License-Identifier: Apache-2.0
#include "opapi/multilabel_margin_loss_backward/check.h"

#include <array>

#include "opapi/checks.h"
#include "opapi/view_checks.h"

namespace mlmargin::opapi {

using nnopbase::Status;

namespace {

constexpr size_t kNumInputs = 4;

std::array<NamedTensor, 5> AllOf(const BackwardTensors& t) {
  return {{{"gradOutput", t.grad_output.get()},
           {"self", t.self.get()},
           {"target", t.target.get()},
           {"isTarget", t.is_target.get()},
           {"gradInput", t.grad_input.get()}}};
}

}  // namespace

Status CheckArguments(const BackwardTensors& tensors, int64_t reduction) {
  const auto& [grad_output, self, target, is_target, grad_input] = tensors;
  MLMARGIN_RETURN_IF_ERROR(CheckSelfDataType(*self));
  MLMARGIN_RETURN_IF_ERROR(CheckTargetDataType(*target));
  MLMARGIN_RETURN_IF_ERROR(CheckSameDataType("gradOutput", *grad_output, *self));
  MLMARGIN_RETURN_IF_ERROR(CheckSameDataType("isTarget", *is_target, *self));
  MLMARGIN_RETURN_IF_ERROR(CheckSameDataType("gradInput", *grad_input, *self));
  MLMARGIN_RETURN_IF_ERROR(CheckSelfShape(*self));
  MLMARGIN_RETURN_IF_ERROR(CheckSameShape("target", *target, *self));
  MLMARGIN_RETURN_IF_ERROR(CheckMaskShape(*is_target, *target, *self));
  MLMARGIN_RETURN_IF_ERROR(CheckLossShape("gradOutput", *grad_output, *self, reduction));
  MLMARGIN_RETURN_IF_ERROR(CheckSameShape("gradInput", *grad_input, *self));
  MLMARGIN_RETURN_IF_ERROR(CheckViews(AllOf(tensors), kNumInputs));
  return CheckReduction(reduction);
}

Status CheckOverlaps(const BackwardTensors& tensors, std::span<void* const> addresses) {
  return CheckOverlaps(AllOf(tensors), kNumInputs, addresses);
}

}  // namespace mlmargin::opapi
