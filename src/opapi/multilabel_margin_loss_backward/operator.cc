// SPDX-License-Identifier: Apache-2.0
#include "opapi/multilabel_margin_loss_backward/operator.h"

#include <utility>

#include "opapi/plan.h"
#include "opapi/run_kernel.h"

namespace mlmargin::opapi {
namespace {

using nnopbase::Status;

constinit LabelReport label_report = {"aclnnMultilabelMarginLossBackward",
                                      "gradInput was not written"};

LossArguments Plan(const BackwardTensors& t, int64_t reduction) {
  LossArguments plan = PlanCall(*t.self, *t.target, reduction);
  plan.grad_loss_stride = PlanList(*t.grad_output);
  plan.grad_scores = PlanOutput(*t.grad_input);
  return plan;
}

}  // namespace

MultilabelMarginLossBackwardOperator::MultilabelMarginLossBackwardOperator(BackwardTensors tensors,
                                                                           int64_t reduction)
    : tensors_(std::move(tensors)), plan_(Plan(tensors_, reduction)) {}

Status MultilabelMarginLossBackwardOperator::CheckAddresses(
    std::span<void* const> addresses) const {
  return CheckOverlaps(tensors_, addresses);
}

Status MultilabelMarginLossBackwardOperator::Run(std::span<void* const> addresses,
                                                 void* /*workspace*/) const {
  if (plan_.rows == 0) return {};  // gradInput is empty and may have no data at all.
  LossArguments call = plan_;
  call.grad_loss = FirstElement(*tensors_.grad_output, addresses[0]);
  call.scores.data = FirstElement(*tensors_.self, addresses[1]);
  call.labels.data = FirstElement(*tensors_.target, addresses[2]);
  // addresses[3] is isTarget's: it says nothing that target does not.
  call.grad_scores.data = FirstElement(*tensors_.grad_input, addresses[4]);
  return RunKernel(call, &label_report);
}

}  // namespace mlmargin::opapi
