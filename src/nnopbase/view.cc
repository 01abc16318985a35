// SPDX-License-Identifier: Apache-2.0
// Where a strided view lies in its storage. Nothing here overflows, whatever the tensor says.
#include <limits>
#include <optional>

#include "nnopbase/errors.h"

namespace mlmargin::nnopbase {
namespace {

// Dims, strides and offset are not negative: tensor.cc lets none in.

bool IsEmpty(const Tensor& tensor) {
  for (const int64_t dim : tensor.view_shape) {
    if (dim == 0) return true;
  }
  return false;
}

// How far the last element of a view that is not empty lies behind its first; empty when that
// does not fit. The stride of a dimension of size 1 is multiplied by 0.
std::optional<int64_t> Extent(const Tensor& tensor) {
  int64_t extent = 0;
  for (size_t i = 0; i < tensor.view_shape.size(); ++i) {
    int64_t steps = 0;
    if (__builtin_mul_overflow(tensor.view_shape[i] - 1, tensor.strides[i], &steps) ||
        __builtin_add_overflow(extent, steps, &extent)) {
      return std::nullopt;
    }
  }
  return extent;
}

// The last element's index in the storage, if its end in bytes fits into an int64_t.
std::optional<int64_t> LastIndex(const Tensor& tensor) {
  const std::optional<int64_t> extent = Extent(tensor);
  int64_t last = 0;
  int64_t end = 0;
  int64_t end_bytes = 0;
  const auto element_bytes = static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
  if (!extent.has_value() || __builtin_add_overflow(tensor.offset, *extent, &last) ||
      __builtin_add_overflow(last, 1, &end) ||
      __builtin_mul_overflow(end, element_bytes, &end_bytes)) {
    return std::nullopt;
  }
  return last;
}

// Capped, since a storage of more than 2^63 - 1 elements holds every view that fits at all.
int64_t StorageElements(const Tensor& tensor) {
  int64_t elements = 1;
  bool capped = false;
  for (const int64_t dim : tensor.storage_shape) {
    if (dim == 0) return 0;
    capped = capped || __builtin_mul_overflow(elements, dim, &elements);
  }
  return capped ? std::numeric_limits<int64_t>::max() : elements;
}

}  // namespace

Status CheckView(const Tensor& tensor, const char* argument) {
  if (IsEmpty(tensor)) return {};
  const std::optional<int64_t> last = LastIndex(tensor);
  if (!last.has_value()) {
    return Invalid(
        "{}: its view must end within 2^63 - 1 bytes, got shape {} with strides {} and offset {} "
        "of {}",
        argument, ShapeText(tensor.view_shape), ShapeText(tensor.strides), tensor.offset,
        DataTypeText(tensor.dtype));
  }
  const int64_t elements = StorageElements(tensor);
  if (*last < elements) return {};
  return Invalid(
      "{}: its view must lie inside its storage {} of {} elements, got shape {} with strides {} "
      "and offset {}, whose last element has index {}",
      argument, ShapeText(tensor.storage_shape), elements, ShapeText(tensor.view_shape),
      ShapeText(tensor.strides), tensor.offset, *last);
}

ByteRange ViewRange(const Tensor& tensor) {
  if (IsEmpty(tensor)) return {};
  const uint64_t element_bytes = aclDataTypeSize(tensor.dtype);
  const auto extent = static_cast<uint64_t>(Extent(tensor).value_or(0));
  return {static_cast<uint64_t>(tensor.offset) * element_bytes, (extent + 1) * element_bytes};
}

}  // namespace mlmargin::nnopbase
