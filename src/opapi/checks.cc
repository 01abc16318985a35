// SPDX-License-Identifier: Apache-2.0
#include "opapi/checks.h"

#include <algorithm>
#include <initializer_list>

#include "opapi/errors.h"

namespace mlmargin::opapi {

using nnopbase::DataTypeText;
using nnopbase::ShapeText;
using nnopbase::Status;
using nnopbase::Tensor;

namespace {

bool IsOneOf(aclDataType dtype, std::initializer_list<aclDataType> allowed) {
  return std::find(allowed.begin(), allowed.end(), dtype) != allowed.end();
}

// Of a shape of rank 0 or 1.
int64_t NumElements(const Tensor& tensor) {
  return tensor.view_shape.empty() ? 1 : tensor.view_shape[0];
}

bool IsEmptyBatch(const Tensor& self) {
  return self.view_shape.size() == 2 && self.view_shape[0] == 0;
}

}  // namespace

// ---- Data types ----------------------------------------------------------------------------

Status CheckSelfDataType(const Tensor& self) {
  if (IsOneOf(self.dtype, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16})) return {};
  return Invalid("self: its data type must be FLOAT, FLOAT16 or BF16, got {}",
                 DataTypeText(self.dtype));
}

Status CheckTargetDataType(const Tensor& target) {
  if (IsOneOf(target.dtype, {ACL_INT32, ACL_INT64})) return {};
  return Invalid("target: its data type must be INT32 or INT64, got {}",
                 DataTypeText(target.dtype));
}

Status CheckSameDataType(const char* argument, const Tensor& tensor, const Tensor& self) {
  if (tensor.dtype == self.dtype) return {};
  return Invalid("{}: its data type must be that of self, {}, got {}", argument,
                 DataTypeText(self.dtype), DataTypeText(tensor.dtype));
}

// ---- Shapes --------------------------------------------------------------------------------

Status CheckSelfShape(const Tensor& self) {
  const auto& shape = self.view_shape;
  if (shape.size() > 2) {
    return Invalid("self: its rank must be 0, 1 or 2, (C) or (N, C), got {} with shape {}",
                   shape.size(), ShapeText(shape));
  }
  if (!shape.empty() && shape.back() == 0) {
    return Invalid("self: it must have at least one class (C >= 1), got shape {}",
                   ShapeText(shape));
  }
  return {};
}

Status CheckSameShape(const char* argument, const Tensor& tensor, const Tensor& self) {
  const bool batch = self.view_shape.size() == 2;
  const bool same = batch
                        ? tensor.view_shape == self.view_shape
                        : tensor.view_shape.size() <= 1 && NumElements(tensor) == NumElements(self);
  if (same) return {};
  return Invalid("{}: its shape must be that of self, {}, got {}", argument,
                 ShapeText(self.view_shape), ShapeText(tensor.view_shape));
}

Status CheckMaskShape(const Tensor& is_target, const Tensor& target, const Tensor& self) {
  const auto& shape = is_target.view_shape;
  if (IsEmptyBatch(self)) {
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (shape.size() <= 2 && empty) return {};
    return Invalid(
        "isTarget: for an empty batch it must be empty and of at most 2 dimensions, "
        "got shape {}",
        ShapeText(shape));
  }
  if (shape == target.view_shape) return {};
  return Invalid("isTarget: its shape must be that of target, {}, got {}",
                 ShapeText(target.view_shape), ShapeText(shape));
}

Status CheckLossShape(const char* argument, const Tensor& tensor, const Tensor& self,
                      int64_t reduction) {
  if (reduction < 0 || reduction > 2) return {};
  const auto& shape = tensor.view_shape;
  if (reduction == 0 && self.view_shape.size() == 2) {
    if (shape.size() == 1 && shape[0] == self.view_shape[0]) return {};
    return Invalid(
        "{}: for reduction 0 (none) and self of shape {} its shape must be ({}), "
        "got {}",
        argument, ShapeText(self.view_shape), self.view_shape[0], ShapeText(shape));
  }
  if (shape.size() <= 1 && NumElements(tensor) == 1) return {};
  return Invalid("{}: for reduction {} and self of shape {} its shape must be () or (1), got {}",
                 argument, reduction, ShapeText(self.view_shape), ShapeText(shape));
}

// ---- Attributes ----------------------------------------------------------------------------

Status CheckReduction(int64_t reduction) {
  if (reduction >= 0 && reduction <= 2) return {};
  return Invalid("reduction: it must be 0 (none), 1 (mean) or 2 (sum), got {}", reduction);
}

}  // namespace mlmargin::opapi
