// SPDX-License-Identifier: Apache-2.0
#include "opapi/multilabel_margin_loss/operator.h"

#include <fmt/format.h>

#include <utility>

#include "acl/acl_base.h"
#include "mlmargin/settings.h"
#include "opapi/multilabel_margin_loss/label_warning.h"

namespace mlmargin::opapi {
namespace {

using nnopbase::Status;
using nnopbase::Tensor;

ScoreType ScoreTypeOf(aclDataType dtype) {
  if (dtype == ACL_FLOAT16) return ScoreType::kFloat16;
  return dtype == ACL_BF16 ? ScoreType::kBFloat16 : ScoreType::kFloat32;
}

Reduction ReductionOf(int64_t reduction) {
  if (reduction == 0) return Reduction::kNone;
  return reduction == 1 ? Reduction::kMean : Reduction::kSum;
}

// The stride of a dimension counted from the last one, in elements. Where it is never stepped
// over, whatever the caller gave is replaced by 0.
int64_t StrideFromEnd(const Tensor& tensor, size_t from_end) {
  const size_t rank = tensor.view_shape.size();
  if (from_end > rank || tensor.view_shape[rank - from_end] <= 1) return 0;
  return tensor.strides[rank - from_end];
}

template <typename MatrixType>
void PlanMatrix(const Tensor& tensor, MatrixType* matrix) {
  matrix->row_stride = StrideFromEnd(tensor, 2);
  matrix->column_stride = StrideFromEnd(tensor, 1);
  // One column is contiguous however it is stepped.
  if (matrix->column_stride == 0 && (tensor.view_shape.empty() || tensor.view_shape.back() == 1)) {
    matrix->column_stride = 1;
  }
}

LossArguments Plan(const LossTensors& t, int64_t reduction) {
  LossArguments plan;
  const auto& shape = t.self->view_shape;
  plan.rows = shape.size() == 2 ? shape[0] : 1;
  plan.classes = shape.empty() ? 1 : shape.back();
  plan.label_columns = plan.classes;
  plan.score_type = ScoreTypeOf(t.self->dtype);
  plan.label_type = t.target->dtype == ACL_INT32 ? LabelType::kInt32 : LabelType::kInt64;
  plan.reduction = ReductionOf(reduction);
  plan.loss_stride = StrideFromEnd(*t.out, 1);
  PlanMatrix(*t.self, &plan.scores);
  PlanMatrix(*t.target, &plan.labels);
  PlanMatrix(*t.is_target, &plan.mask);
  return plan;
}

void* FirstElement(const Tensor& tensor, void* data) {
  const auto bytes = static_cast<size_t>(tensor.offset) * aclDataTypeSize(tensor.dtype);
  return data == nullptr ? nullptr : static_cast<char*>(data) + bytes;
}

double* AlignForDoubles(void* workspace) {
  const auto address = reinterpret_cast<uintptr_t>(workspace);
  return reinterpret_cast<double*>((address + alignof(double) - 1) & ~(alignof(double) - 1));
}

// The kernel's status as the code that the stream reports.
Status ToStreamStatus(const mlmargin::Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return {};
    case StatusCode::kLabelOutOfRange:
      return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "EZ2001",
              "target: " + status.message() + "; out and isTarget were not written"};
    case StatusCode::kOutOfMemory:
      return {ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "out of host memory: " + status.message()};
    case StatusCode::kInvalidArgument:
      break;  // Phase 1 lets none through.
  }
  return {ACL_ERROR_RT_INTERNAL_ERROR, "EZ9999", status.message()};
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
  const LabelCheck check = GetLabelCheck();
  LossArguments call = plan_;
  call.scores.data = FirstElement(*tensors_.self, addresses[0]);
  call.labels.data = FirstElement(*tensors_.target, addresses[1]);
  call.loss = FirstElement(*tensors_.out, addresses[2]);
  call.mask.data = FirstElement(*tensors_.is_target, addresses[3]);
  call.row_losses = workspace_bytes() == 0 ? &single_row : AlignForDoubles(workspace);
  call.reject_bad_labels = check == LabelCheck::kError;
  BadLabels bad_labels;
  const mlmargin::Status status = mlmargin::MultilabelMarginLoss(call, &bad_labels);
  if (status.ok() && check == LabelCheck::kWarn) WarnAboutLabels(bad_labels, plan_.classes);
  return ToStreamStatus(status);
}

}  // namespace mlmargin::opapi
