// SPDX-License-Identifier: Apache-2.0
#include "nnopbase/tensor.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "nnopbase/errors.h"
#include "runtime/never_destroyed.h"

namespace mlmargin::nnopbase {
namespace {

// A list as a C caller passes it; the names are those of its arguments.
struct RawList {
  const char* name;
  const char* count_name;
  const int64_t* values;
  uint64_t count;
};

Status ReadList(const RawList& raw, std::vector<int64_t>* list) {
  if (raw.count > kMaxRank) {
    return Invalid("{}: must be at most {}, got {}", raw.count_name, kMaxRank, raw.count);
  }
  if (raw.values == nullptr && raw.count > 0) {
    return ParameterError(ACLNN_ERR_PARAM_NULLPTR,
                          fmt::format("{}: must not be null when {} is {}, got null", raw.name,
                                      raw.count_name, raw.count));
  }
  list->assign(raw.values, raw.values + raw.count);
  if (std::all_of(list->begin(), list->end(), [](int64_t value) { return value >= 0; })) return {};
  return Invalid("{}: must not hold a negative value, got {}", raw.name, ShapeText(*list));
}

// Capped instead of overflowing: CheckView refuses such a view, unless it is empty.
std::vector<int64_t> ContiguousStrides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    if (__builtin_mul_overflow(strides[i], shape[i], &strides[i - 1])) {
      strides[i - 1] = std::numeric_limits<int64_t>::max();
    }
  }
  return strides;
}

}  // namespace

runtime::HandleTable<const Tensor>& Tensors() {
  static runtime::NeverDestroyed<runtime::HandleTable<const Tensor>> table;
  return table.get();
}

Status FindTensor(const aclTensor* handle, const char* argument,
                  std::shared_ptr<const Tensor>* tensor) {
  MLMARGIN_RETURN_IF_ERROR(CheckNotNull(argument, handle));
  *tensor = Tensors().Find(handle);
  return *tensor != nullptr ? Status() : DeadHandle(argument, "tensor", handle);
}

Status ApplyArguments(const TensorArguments& a, Tensor* tensor) {
  std::vector<int64_t> view_shape;
  std::vector<int64_t> strides;
  std::vector<int64_t> storage_shape;
  MLMARGIN_RETURN_IF_ERROR(
      ReadList({"viewDims", "viewDimsNum", a.view_dims, a.view_dims_num}, &view_shape));
  if (a.stride == nullptr) {
    strides = ContiguousStrides(view_shape);
  } else {
    MLMARGIN_RETURN_IF_ERROR(
        ReadList({"stride", "viewDimsNum", a.stride, a.view_dims_num}, &strides));
  }
  if (a.offset < 0) return Invalid("offset: must not be negative, got {}", a.offset);
  MLMARGIN_RETURN_IF_ERROR(ReadList(
      {"storageDims", "storageDimsNum", a.storage_dims, a.storage_dims_num}, &storage_shape));
  if (a.view_dims_num > 0) {
    tensor->view_shape = std::move(view_shape);
    tensor->strides = std::move(strides);
  }
  if (a.storage_dims_num > 0) tensor->storage_shape = std::move(storage_shape);
  if (a.data != nullptr) tensor->data = a.data;
  tensor->dtype = a.dtype;
  tensor->offset = a.offset;
  tensor->format = a.format;
  return {};
}

}  // namespace mlmargin::nnopbase
