// SPDX-License-Identifier: Apache-2.0
// Entry points for tensors.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "nnopbase/c_api.h"
#include "nnopbase/tensor.h"

using mlmargin::nnopbase::AclnnCall;
using mlmargin::nnopbase::ApplyArguments;
using mlmargin::nnopbase::CheckNotNull;
using mlmargin::nnopbase::DeadHandle;
using mlmargin::nnopbase::FindTensor;
using mlmargin::nnopbase::Status;
using mlmargin::nnopbase::Tensor;
using mlmargin::nnopbase::Tensors;

namespace {

// Where a getter puts a value, and what its header calls the place.
template <typename Value>
struct Target {
  const char* argument;
  Value* value;
};

template <typename Value>
aclnnStatus GetMember(const char* function, const aclTensor* handle, Value Tensor::*member,
                      Target<std::type_identity_t<Value>> target) {
  return AclnnCall(function, [&] {
    std::shared_ptr<const Tensor> tensor;
    MLMARGIN_RETURN_IF_ERROR(CheckNotNull(target.argument, target.value));
    MLMARGIN_RETURN_IF_ERROR(FindTensor(handle, "tensor", &tensor));
    *target.value = (*tensor).*member;
    return Status();
  });
}

// Hands out a copy that the caller frees with delete[], also when it is empty.
aclnnStatus GetList(const char* function, const aclTensor* handle,
                    std::vector<int64_t> Tensor::*member, Target<int64_t*> array,
                    Target<uint64_t> count) {
  return AclnnCall(function, [&] {
    std::shared_ptr<const Tensor> tensor;
    MLMARGIN_RETURN_IF_ERROR(CheckNotNull(array.argument, array.value));
    MLMARGIN_RETURN_IF_ERROR(CheckNotNull(count.argument, count.value));
    MLMARGIN_RETURN_IF_ERROR(FindTensor(handle, "tensor", &tensor));
    const std::vector<int64_t>& values = (*tensor).*member;
    *array.value = new int64_t[values.size()];
    std::copy(values.begin(), values.end(), *array.value);
    *count.value = values.size();
    return Status();
  });
}

// Puts `changed` behind a live handle; executors of the old tensor keep it as it was.
Status Replace(const aclTensor* handle, std::shared_ptr<const Tensor> changed) {
  if (Tensors().Replace(handle, std::move(changed))) return {};
  return DeadHandle("tensor", "tensor", handle);
}

}  // namespace

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  aclTensor* created = nullptr;
  AclnnCall(__func__, [&] {
    auto tensor = std::make_shared<Tensor>();
    MLMARGIN_RETURN_IF_ERROR(ApplyArguments({viewDims, viewDimsNum, dataType, stride, offset,
                                             format, storageDims, storageDimsNum, tensorData},
                                            tensor.get()));
    created = static_cast<aclTensor*>(Tensors().Insert(std::move(tensor)));
    return Status();
  });
  return created;
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorDataAddr) {
  return AclnnCall(__func__, [&] {
    std::shared_ptr<const Tensor> old;
    MLMARGIN_RETURN_IF_ERROR(FindTensor(tensor, "tensor", &old));
    auto changed = std::make_shared<Tensor>(*old);
    MLMARGIN_RETURN_IF_ERROR(ApplyArguments({viewDims, viewDimsNum, dataType, stride, offset,
                                             format, storageDims, storageDimsNum, tensorDataAddr},
                                            changed.get()));
    return Replace(tensor, std::move(changed));
  });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return AclnnCall(__func__, [&] {
    if (tensor == nullptr || Tensors().Remove(tensor) != nullptr) return Status();
    return DeadHandle("tensor", "tensor", tensor);
  });
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return GetList(__func__, tensor, &Tensor::view_shape, {"viewDims", viewDims},
                 {"viewDimsNum", viewDimsNum});
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
  return GetList(__func__, tensor, &Tensor::storage_shape, {"storageDims", storageDims},
                 {"storageDimsNum", storageDimsNum});
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  return GetList(__func__, tensor, &Tensor::strides, {"stridesValue", stridesValue},
                 {"stridesNum", stridesNum});
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return GetMember(__func__, tensor, &Tensor::offset, {"offset", offset});
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return GetMember(__func__, tensor, &Tensor::format, {"format", format});
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return GetMember(__func__, tensor, &Tensor::dtype, {"dataType", dataType});
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  return GetMember(__func__, tensor, &Tensor::data, {"addr", addr});
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  return AclnnCall(__func__, [&] {
    std::shared_ptr<const Tensor> old;
    MLMARGIN_RETURN_IF_ERROR(FindTensor(tensor, "tensor", &old));
    auto changed = std::make_shared<Tensor>(*old);
    changed->data = addr;
    return Replace(tensor, std::move(changed));
  });
}
