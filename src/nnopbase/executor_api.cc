// SPDX-License-Identifier: Apache-2.0
// Entry points for executors: reuse, and new addresses between runs.
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "nnopbase/c_api.h"
#include "nnopbase/executor.h"
#include "nnopbase/lists.h"
#include "nnopbase/tensor.h"

using mlmargin::nnopbase::AclnnCall;
using mlmargin::nnopbase::Argument;
using mlmargin::nnopbase::CheckNotNullForExecutor;
using mlmargin::nnopbase::DataTypeText;
using mlmargin::nnopbase::DeadExecutor;
using mlmargin::nnopbase::DeadHandle;
using mlmargin::nnopbase::Executor;
using mlmargin::nnopbase::Executors;
using mlmargin::nnopbase::FindTensor;
using mlmargin::nnopbase::Invalid;
using mlmargin::nnopbase::IsTensorList;
using mlmargin::nnopbase::ShapeText;
using mlmargin::nnopbase::Status;
using mlmargin::nnopbase::Tensor;
using mlmargin::nnopbase::Tensors;

namespace {

// Among which tensors an index counts.
enum class Side { kInputs, kOutputs, kAll };

const char* NameOf(Side side) {
  switch (side) {
    case Side::kInputs:
      return "inputs";
    case Side::kOutputs:
      return "outputs";
    case Side::kAll:
      break;
  }
  return "tensors";
}

std::span<const Argument> ArgumentsOf(const Executor& executor, Side side) {
  switch (side) {
    case Side::kInputs:
      return executor.inputs();
    case Side::kOutputs:
      return executor.outputs();
    case Side::kAll:
      break;
  }
  return executor.plan().arguments;
}

Status FindExecutor(const aclOpExecutor* handle, std::shared_ptr<Executor>* executor) {
  MLMARGIN_RETURN_IF_ERROR(CheckNotNullForExecutor("executor", handle));
  *executor = Executors().Find(handle);
  return *executor != nullptr ? Status() : DeadExecutor(handle);
}

// The plan was made for phase 1's tensor: only the address may differ.
Status CheckSameKind(const Argument& argument, const Tensor& tensor) {
  const Tensor& planned = *argument.tensor;
  if (tensor.dtype == planned.dtype && tensor.view_shape == planned.view_shape) return {};
  return Invalid("tensor: for {} it must be {} of shape {} as in phase 1, got {} of shape {}",
                 argument.name, DataTypeText(planned.dtype), ShapeText(planned.view_shape),
                 DataTypeText(tensor.dtype), ShapeText(tensor.view_shape));
}

Status SetAddress(const aclOpExecutor* executor_handle, Side side, size_t index,
                  const aclTensor* tensor_handle, void* addr) {
  MLMARGIN_RETURN_IF_ERROR(CheckNotNullForExecutor("executor", executor_handle));
  MLMARGIN_RETURN_IF_ERROR(CheckNotNullForExecutor("tensor", tensor_handle));
  std::shared_ptr<Executor> executor;
  std::shared_ptr<const Tensor> tensor;
  MLMARGIN_RETURN_IF_ERROR(FindExecutor(executor_handle, &executor));
  MLMARGIN_RETURN_IF_ERROR(FindTensor(tensor_handle, "tensor", &tensor));
  const std::span<const Argument> arguments = ArgumentsOf(*executor, side);
  if (index >= arguments.size()) {
    return Invalid("index: must be below the number of {}, {}, got {}", NameOf(side),
                   arguments.size(), index);
  }
  MLMARGIN_RETURN_IF_ERROR(CheckSameKind(arguments[index], *tensor));
  auto changed = std::make_shared<Tensor>(*tensor);
  changed->data = addr;
  if (!Tensors().Replace(tensor_handle, std::move(changed))) {
    return DeadHandle("tensor", "tensor", tensor_handle);
  }
  executor->SetAddress(index + (side == Side::kOutputs ? executor->plan().num_inputs : 0), addr);
  return {};
}

// No operator takes a tensor list so far, so that every irIndex is past the end.
Status SetListAddress(const aclOpExecutor* executor_handle, Side side, size_t ir_index,
                      const aclTensorList* tensors) {
  MLMARGIN_RETURN_IF_ERROR(CheckNotNullForExecutor("executor", executor_handle));
  MLMARGIN_RETURN_IF_ERROR(CheckNotNullForExecutor("tensors", tensors));
  std::shared_ptr<Executor> executor;
  MLMARGIN_RETURN_IF_ERROR(FindExecutor(executor_handle, &executor));
  if (!IsTensorList(tensors)) return DeadHandle("tensors", "tensor list", tensors);
  return Invalid(
      "irIndex: must be that of a tensor list among the {} of {}, which has none, got {}",
      NameOf(side), executor->plan().function, ir_index);
}

}  // namespace

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return AclnnCall(__func__, [&] {
    std::shared_ptr<Executor> found;
    MLMARGIN_RETURN_IF_ERROR(FindExecutor(executor, &found));
    return found->MakeRepeatable() ? Status() : DeadExecutor(executor);
  });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return AclnnCall(__func__, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckNotNullForExecutor("executor", executor));
    const std::shared_ptr<Executor> found = Executors().Remove(executor);
    if (found == nullptr) return DeadExecutor(executor);
    found->Spend();
    return Status();
  });
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return AclnnCall(__func__,
                   [&] { return SetAddress(executor, Side::kInputs, index, tensor, addr); });
}

aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return AclnnCall(__func__,
                   [&] { return SetAddress(executor, Side::kOutputs, index, tensor, addr); });
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
  return AclnnCall(__func__, [&] { return SetAddress(executor, Side::kAll, index, tensor, addr); });
}

aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t,
                                         aclTensorList* tensors, void*) {
  return AclnnCall(__func__,
                   [&] { return SetListAddress(executor, Side::kInputs, irIndex, tensors); });
}

aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t,
                                          aclTensorList* tensors, void*) {
  return AclnnCall(__func__,
                   [&] { return SetListAddress(executor, Side::kOutputs, irIndex, tensors); });
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t,
                                    aclTensorList* tensors, void*) {
  return AclnnCall(__func__,
                   [&] { return SetListAddress(executor, Side::kAll, irIndex, tensors); });
}

// ---- The same functions under their other spelling -------------------------------------------

aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return aclSetInputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return aclSetOutputTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
  return aclSetTensorAddr(executor, index, tensor, addr);
}

aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList* tensors,
                                         void* addr) {
  return aclSetDynamicInputTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList* tensors,
                                          void* addr) {
  return aclSetDynamicOutputTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}

aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList* tensors,
                                    void* addr) {
  return aclSetDynamicTensorAddr(executor, irIndex, relativeIndex, tensors, addr);
}
