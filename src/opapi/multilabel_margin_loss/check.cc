// SPDX-License-Identifier: Apache-2.0
#include "opapi/multilabel_margin_loss/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "opapi/overlap.h"
#include "opdev/op_errno.h"

namespace mlmargin::opapi {
namespace {

using nnopbase::DataTypeText;
using nnopbase::ShapeText;
using nnopbase::Status;
using nnopbase::Tensor;

template <typename... Args>
Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return nnopbase::ParameterError(ACLNN_ERR_PARAM_INVALID,
                                  fmt::format(format, std::forward<Args>(args)...));
}

// ---- dtypes --------------------------------------------------------------------------------

bool IsOneOf(aclDataType dtype, std::initializer_list<aclDataType> allowed) {
  return std::find(allowed.begin(), allowed.end(), dtype) != allowed.end();
}

Status CheckSameDataType(const char* argument, const Tensor& tensor, const Tensor& self) {
  if (tensor.dtype == self.dtype) return {};
  return Invalid("{}: its data type must be that of self, {}, got {}", argument,
                 DataTypeText(self.dtype), DataTypeText(tensor.dtype));
}

Status CheckDataTypes(const LossTensors& t) {
  if (!IsOneOf(t.self->dtype, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16})) {
    return Invalid("self: its data type must be FLOAT, FLOAT16 or BF16, got {}",
                   DataTypeText(t.self->dtype));
  }
  if (!IsOneOf(t.target->dtype, {ACL_INT32, ACL_INT64})) {
    return Invalid("target: its data type must be INT32 or INT64, got {}",
                   DataTypeText(t.target->dtype));
  }
  MLMARGIN_RETURN_IF_ERROR(CheckSameDataType("out", *t.out, *t.self));
  return CheckSameDataType("isTarget", *t.is_target, *t.self);
}

// ---- Shapes --------------------------------------------------------------------------------

// Of a shape of rank 0 or 1.
int64_t NumElements(const Tensor& tensor) {
  return tensor.view_shape.empty() ? 1 : tensor.view_shape[0];
}

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

Status CheckTargetShape(const Tensor& target, const Tensor& self) {
  const bool batch = self.view_shape.size() == 2;
  const bool same = batch
                        ? target.view_shape == self.view_shape
                        : target.view_shape.size() <= 1 && NumElements(target) == NumElements(self);
  if (same) return {};
  return Invalid("target: its shape must be that of self, {}, got {}", ShapeText(self.view_shape),
                 ShapeText(target.view_shape));
}

bool IsEmptyBatch(const Tensor& self) {
  return self.view_shape.size() == 2 && self.view_shape[0] == 0;
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

// An unknown reduction has no right shape; CheckReduction will name it.
Status CheckOutShape(const Tensor& out, const Tensor& self, int64_t reduction) {
  if (reduction < 0 || reduction > 2) return {};
  const auto& shape = out.view_shape;
  if (reduction == 0 && self.view_shape.size() == 2) {
    if (shape.size() == 1 && shape[0] == self.view_shape[0]) return {};
    return Invalid(
        "out: for reduction 0 (none) and self of shape {} its shape must be ({}), "
        "got {}",
        ShapeText(self.view_shape), self.view_shape[0], ShapeText(shape));
  }
  if (shape.size() <= 1 && NumElements(out) == 1) return {};
  return Invalid("out: for reduction {} and self of shape {} its shape must be () or (1), got {}",
                 reduction, ShapeText(self.view_shape), ShapeText(shape));
}

// ---- Formats and views ---------------------------------------------------------------------

Status CheckFormat(const char* argument, const Tensor& tensor) {
  // All of these say "as the dimensions stand"; the others would say that data is rearranged.
  constexpr std::array kPlain = {ACL_FORMAT_ND,    ACL_FORMAT_NC,   ACL_FORMAT_NCL,
                                 ACL_FORMAT_NCHW,  ACL_FORMAT_NHWC, ACL_FORMAT_HWCN,
                                 ACL_FORMAT_NCDHW, ACL_FORMAT_NDHWC};
  if (std::find(kPlain.begin(), kPlain.end(), tensor.format) != kPlain.end()) return {};
  return Invalid(
      "{}: its format must be ND, NC, NCL, NCHW, NHWC, HWCN, NCDHW or NDHWC, got "
      "aclFormat({})",
      argument, static_cast<int>(tensor.format));
}

Status CheckOutputView(const char* argument, const Tensor& tensor) {
  if (!MakeByteView(tensor, nullptr).repeats) return {};
  return Invalid(
      "{}: no two elements of an output may share an address, got shape {} with "
      "strides {}",
      argument, ShapeText(tensor.view_shape), ShapeText(tensor.strides));
}

struct Named {
  const char* name;
  const Tensor* tensor;
};
std::array<Named, 4> AllOf(const LossTensors& t) {
  return {{{"self", t.self.get()},
           {"target", t.target.get()},
           {"out", t.out.get()},
           {"isTarget", t.is_target.get()}}};
}

Status CheckViews(const LossTensors& t) {
  for (const auto& [name, tensor] : AllOf(t)) MLMARGIN_RETURN_IF_ERROR(CheckFormat(name, *tensor));
  for (const auto& [name, tensor] : AllOf(t)) {
    MLMARGIN_RETURN_IF_ERROR(nnopbase::CheckView(*tensor, name));
  }
  MLMARGIN_RETURN_IF_ERROR(CheckOutputView("out", *t.out));
  MLMARGIN_RETURN_IF_ERROR(CheckOutputView("isTarget", *t.is_target));
  const std::array<void*, 4> addresses = {t.self->data, t.target->data, t.out->data,
                                          t.is_target->data};
  return CheckOverlaps(t, addresses);
}

Status CheckReduction(int64_t reduction) {
  if (reduction >= 0 && reduction <= 2) return {};
  return Invalid("reduction: it must be 0 (none), 1 (mean) or 2 (sum), got {}", reduction);
}

}  // namespace

Status CheckArguments(const LossTensors& tensors, int64_t reduction) {
  MLMARGIN_RETURN_IF_ERROR(CheckDataTypes(tensors));
  MLMARGIN_RETURN_IF_ERROR(CheckSelfShape(*tensors.self));
  MLMARGIN_RETURN_IF_ERROR(CheckTargetShape(*tensors.target, *tensors.self));
  MLMARGIN_RETURN_IF_ERROR(CheckMaskShape(*tensors.is_target, *tensors.target, *tensors.self));
  MLMARGIN_RETURN_IF_ERROR(CheckOutShape(*tensors.out, *tensors.self, reduction));
  MLMARGIN_RETURN_IF_ERROR(CheckViews(tensors));
  return CheckReduction(reduction);
}

Status CheckOverlaps(const LossTensors& tensors, std::span<void* const> addresses) {
  const std::array<Named, 4> named = AllOf(tensors);
  std::array<ByteView, 4> views;
  for (size_t i = 0; i < views.size(); ++i) views[i] = MakeByteView(*named[i].tensor, addresses[i]);
  constexpr std::pair<size_t, size_t> kPairs[] = {{2, 0}, {2, 1}, {3, 0}, {3, 1}, {3, 2}};
  for (const auto& [output, other] : kPairs) {
    if (addresses[output] == nullptr || addresses[other] == nullptr) continue;
    if (!ShareByte(views[output], views[other])) continue;
    return Invalid("{}: it must not share memory with {}, got views that begin at {:#x} and {:#x}",
                   named[output].name, named[other].name, views[output].address,
                   views[other].address);
  }
  return {};
}

}  // namespace mlmargin::opapi
