// SPDX-License-Identifier: Apache-2.0
#include "opapi/plan.h"

#include "acl/acl_base.h"

namespace mlmargin::opapi {

using nnopbase::Tensor;

namespace {

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
MatrixType PlanMatrix(const Tensor& tensor) {
  MatrixType matrix;
  matrix.row_stride = StrideFromEnd(tensor, 2);
  matrix.column_stride = StrideFromEnd(tensor, 1);
  // One column is contiguous however it is stepped.
  if (matrix.column_stride == 0 && (tensor.view_shape.empty() || tensor.view_shape.back() == 1)) {
    matrix.column_stride = 1;
  }
  return matrix;
}

}  // namespace

LossArguments PlanCall(const Tensor& self, const Tensor& target, int64_t reduction) {
  LossArguments plan;
  const auto& shape = self.view_shape;
  plan.rows = shape.size() == 2 ? shape[0] : 1;
  plan.classes = shape.empty() ? 1 : shape.back();
  plan.label_columns = plan.classes;
  plan.score_type = ScoreTypeOf(self.dtype);
  plan.label_type = target.dtype == ACL_INT32 ? LabelType::kInt32 : LabelType::kInt64;
  plan.reduction = ReductionOf(reduction);
  plan.scores = PlanInput(self);
  plan.labels = PlanInput(target);
  return plan;
}

ConstMatrix PlanInput(const Tensor& tensor) { return PlanMatrix<ConstMatrix>(tensor); }

Matrix PlanOutput(const Tensor& tensor) { return PlanMatrix<Matrix>(tensor); }

int64_t PlanList(const Tensor& tensor) { return StrideFromEnd(tensor, 1); }

void* FirstElement(const Tensor& tensor, void* data) {
  const auto bytes = static_cast<size_t>(tensor.offset) * aclDataTypeSize(tensor.dtype);
  return data == nullptr ? nullptr : static_cast<char*>(data) + bytes;
}

}  // namespace mlmargin::opapi
