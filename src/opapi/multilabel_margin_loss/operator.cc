// SPDX-License-Identifier: Apache-2.0
#include "opapi/multilabel_margin_loss/operator.h"

#include <utility>

#include "opapi/plan.h"
#include "opapi/run_kernel.h"

namespace mlmargin::opapi {
namespace {

using nnopbase::Status;

constinit LabelReport label_report = {"aclnnMultilabelMarginLoss",
                                      "out and isTarget were not written"};

LossArguments Plan(const LossTensors& t, int64_t reduction) {
  LossArguments plan = PlanCall(*t.self, *t.target, reduction);
  plan.loss_stride = PlanList(*t.out);
  plan.mask = PlanOutput(*t.is_target);
  return plan;
}

double* AlignForDoubles(void* workspace) {
  const auto address = reinterpret_cast<uintptr_t>(workspace);
  return reinterpret_cast<double*>((address + alignof(double) - 1) & ~(alignof(double) - 1));
}

}  // namespace

MultilabelMarginLossOperator::MultilabelMarginLossOperator(LossTensors tensors, int64_t reduction)
    : tensors_(std::move(tensors)), plan_(Plan(tensors_, reduction)) {}

uint64_t MultilabelMarginLossOperator::workspace_bytes() const {
  if (plan_.reduction == Reduction::kNone || plan_.rows <= 1) return 0;
  return (static_cast<uint64_t>(plan_.rows) + 1) * sizeof(double);
}

Status MultilabelMarginLossOperator::CheckAddresses(std::span<void* const> addresses) const {
  return CheckOverlaps(tensors_, addresses);
}

Status MultilabelMarginLossOperator::Run(std::span<void* const> addresses, void* workspace) const {
  double single_row = 0;
  LossArguments call = plan_;
  call.scores.data = FirstElement(*tensors_.self, addresses[0]);
  call.labels.data = FirstElement(*tensors_.target, addresses[1]);
  call.loss = FirstElement(*tensors_.out, addresses[2]);
  call.mask.data = FirstElement(*tensors_.is_target, addresses[3]);
  call.row_losses = workspace_bytes() == 0 ? &single_row : AlignForDoubles(workspace);
  return RunKernel(call, &label_report);
}

}  // namespace mlmargin::opapi
