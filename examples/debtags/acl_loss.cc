// SPDX-License-Identifier: Apache-2.0
#include "debtags/acl_loss.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace debtags {
namespace {

constexpr int32_t kDevice = 0;
constexpr int64_t kReductionNone = 0;

[[noreturn]] void ThrowRecentError(std::string_view call, int status) {
  const char* text = aclGetRecentErrMsg();
  throw std::runtime_error(
      fmt::format("{} failed with {}: {}", call, status, text ? text : "(no message)"));
}

void Check(int status, std::string_view call) {
  if (status != ACL_SUCCESS) ThrowRecentError(call, status);
}

DeviceMemory MakeDeviceMemory(size_t bytes) {
  void* memory = nullptr;
  Check(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  return DeviceMemory(memory);
}

HostMemory MakeHostMemory(size_t bytes) {
  void* memory = nullptr;
  Check(aclrtMallocHost(&memory, bytes), "aclrtMallocHost");
  return HostMemory(memory);
}

// One that may be recorded again and again.
Event MakeTimeEvent() {
  aclrtEvent event = nullptr;
  Check(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE), "aclrtCreateEventExWithFlag");
  return Event(event);
}

Stream MakeStream() {
  aclrtStream stream = nullptr;
  Check(aclrtCreateStream(&stream), "aclrtCreateStream");
  return Stream(stream);
}

struct DestroyTensor {
  void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
};
using Tensor = std::unique_ptr<aclTensor, DestroyTensor>;

// A contiguous view of `memory`.
Tensor MakeTensor(const DeviceMemory& memory, std::initializer_list<size_t> shape,
                  aclDataType type) {
  const std::vector<int64_t> dims(shape.begin(), shape.end());
  aclTensor* tensor = aclCreateTensor(dims.data(), dims.size(), type, nullptr, 0, ACL_FORMAT_ND,
                                      dims.data(), dims.size(), memory.get());
  if (tensor == nullptr) ThrowRecentError("aclCreateTensor", 0);
  return Tensor(tensor);
}

}  // namespace

AclDevice::AclDevice() {
  Check(aclInit(nullptr), "aclInit");
  Check(aclrtSetDevice(kDevice), "aclrtSetDevice");
}

AclDevice::~AclDevice() {
  aclrtResetDevice(kDevice);
  aclFinalize();
}

LossBatch::LossBatch(size_t max_rows, size_t num_classes)
    : max_rows_(max_rows),
      num_classes_(num_classes),
      host_scores_(MakeHostMemory(max_rows * num_classes * sizeof(float))),
      host_labels_(MakeHostMemory(max_rows * num_classes * sizeof(int32_t))),
      host_losses_(MakeHostMemory(max_rows * sizeof(float))),
      scores_(MakeDeviceMemory(max_rows * num_classes * sizeof(float))),
      labels_(MakeDeviceMemory(max_rows * num_classes * sizeof(int32_t))),
      losses_(MakeDeviceMemory(max_rows * sizeof(float))),
      mask_(MakeDeviceMemory(max_rows * num_classes * sizeof(float))),
      loss_begin_(MakeTimeEvent()),
      loss_end_(MakeTimeEvent()),
      stream_(MakeStream()) {}

std::span<float> LossBatch::scores() const {
  return {static_cast<float*>(host_scores_.get()), max_rows_ * num_classes_};
}

std::span<int32_t> LossBatch::labels() const {
  return {static_cast<int32_t*>(host_labels_.get()), max_rows_ * num_classes_};
}

void LossBatch::CopyAsync(const DeviceMemory& to, const HostMemory& from, size_t bytes) {
  Check(aclrtMemcpyAsync(to.get(), bytes, from.get(), bytes, ACL_MEMCPY_HOST_TO_DEVICE,
                         stream_.get()),
        "aclrtMemcpyAsync");
}

void LossBatch::LaunchLoss(size_t rows) {
  // The tensors may go once phase 1 is through: the executor holds what it needs.
  const Tensor self = MakeTensor(scores_, {rows, num_classes_}, ACL_FLOAT);
  const Tensor target = MakeTensor(labels_, {rows, num_classes_}, ACL_INT32);
  const Tensor out = MakeTensor(losses_, {rows}, ACL_FLOAT);
  const Tensor is_target = MakeTensor(mask_, {rows, num_classes_}, ACL_FLOAT);

  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  Check(aclnnMultilabelMarginLossGetWorkspaceSize(self.get(), target.get(), kReductionNone,
                                                  out.get(), is_target.get(), &bytes, &executor),
        "aclnnMultilabelMarginLossGetWorkspaceSize");
  if (bytes > workspace_bytes_) {
    workspace_ = MakeDeviceMemory(bytes);
    workspace_bytes_ = bytes;
  }
  Check(aclnnMultilabelMarginLoss(workspace_.get(), bytes, executor, stream_.get()),
        "aclnnMultilabelMarginLoss");
}

void LossBatch::Start(size_t rows) {
  CopyAsync(scores_, host_scores_, rows * num_classes_ * sizeof(float));
  CopyAsync(labels_, host_labels_, rows * num_classes_ * sizeof(int32_t));
  Check(aclrtRecordEvent(loss_begin_.get(), stream_.get()), "aclrtRecordEvent");
  LaunchLoss(rows);
  Check(aclrtRecordEvent(loss_end_.get(), stream_.get()), "aclrtRecordEvent");
  const size_t bytes = rows * sizeof(float);
  Check(aclrtMemcpyAsync(host_losses_.get(), bytes, losses_.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST,
                         stream_.get()),
        "aclrtMemcpyAsync");
  started_rows_ = rows;
}

std::span<const float> LossBatch::Wait() {
  Check(aclrtSynchronizeStream(stream_.get()), "aclrtSynchronizeStream");
  return {static_cast<const float*>(host_losses_.get()), started_rows_};
}

double LossBatch::LossMilliseconds() const {
  float milliseconds = 0;
  Check(aclrtEventElapsedTime(&milliseconds, loss_begin_.get(), loss_end_.get()),
        "aclrtEventElapsedTime");
  return static_cast<double>(milliseconds);
}

}  // namespace debtags
