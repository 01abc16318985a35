// SPDX-License-Identifier: Apache-2.0
#include "size/operator_call.h"

#include <gtest/gtest.h>

#include "aclnnop/aclnn_multilabel_margin_loss.h"
#include "aclnnop/aclnn_multilabel_margin_loss_backward.h"
#include "size/memory_use.h"

namespace mlmargin::testing {
namespace {

constexpr int64_t kMegabyte = 1'000'000;

// Of a row's parts, of the runtime and of oneTBB; it does not grow with the data.
constexpr int64_t kConstantBytes = kMegabyte;
// Stacks of threads that start, and pages of code that is run for the first time.
constexpr int64_t kResidentSlack = 16 * kMegabyte;

void ExpectWithin(const MemoryUse& use, int64_t workspace_bytes, int64_t label_bytes) {
  EXPECT_LE(use.HeapBytes(), kConstantBytes + label_bytes);
  EXPECT_LE(use.ResidentBytes(), kResidentSlack + workspace_bytes + label_bytes);
}

}  // namespace

Registered::Registered(void* memory, size_t bytes) : memory_(memory) {
  void* device = nullptr;
  EXPECT_EQ(aclrtHostRegister(memory, bytes, ACL_HOST_REGISTER_MAPPED, &device), ACL_SUCCESS);
  EXPECT_EQ(device, memory);
}

Registered::~Registered() { EXPECT_EQ(aclrtHostUnregister(memory_), ACL_SUCCESS); }

DeviceMemory::DeviceMemory(int64_t bytes) {
  EXPECT_EQ(aclrtMalloc(&data_, static_cast<size_t>(bytes), ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_SUCCESS);
}

DeviceMemory::~DeviceMemory() { EXPECT_EQ(aclrtFree(data_), ACL_SUCCESS); }

TensorHandle::TensorHandle(const View& view, aclDataType dtype, void* data) {
  const int64_t storage = view.StorageElements();
  handle_ = aclCreateTensor(view.shape.data(), view.shape.size(), dtype, view.strides.data(),
                            view.offset, ACL_FORMAT_ND, &storage, 1, data);
  EXPECT_NE(handle_, nullptr);
}

TensorHandle::~TensorHandle() { EXPECT_EQ(aclDestroyTensor(handle_), ACL_SUCCESS); }

void RunLoss(const TensorHandle& self, const TensorHandle& target, int64_t reduction,
             const TensorHandle& out, const TensorHandle& is_target, int64_t rows,
             int64_t labels_in_work) {
  const MemoryUse use;
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(
                self.get(), target.get(), reduction, out.get(), is_target.get(), &bytes, &executor),
            0)
      << aclGetRecentErrMsg();
  ASSERT_LE(bytes, static_cast<uint64_t>(kMegabyte + 16 * rows));
  const DeviceMemory workspace(static_cast<int64_t>(bytes) + 1);
  ASSERT_EQ(aclnnMultilabelMarginLoss(workspace.data(), bytes, executor, nullptr), 0)
      << aclGetRecentErrMsg();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0) << aclGetRecentErrMsg();
  ExpectWithin(use, static_cast<int64_t>(bytes), 32 * labels_in_work);
}

void RunGradient(const TensorHandle& grad_output, const TensorHandle& self,
                 const TensorHandle& target, int64_t reduction, const TensorHandle& is_target,
                 const TensorHandle& grad_input, int64_t labels_in_work) {
  const MemoryUse use;
  uint64_t bytes = 77;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
                grad_output.get(), self.get(), target.get(), reduction, is_target.get(),
                grad_input.get(), &bytes, &executor),
            0)
      << aclGetRecentErrMsg();
  ASSERT_EQ(bytes, 0u);
  ASSERT_EQ(aclnnMultilabelMarginLossBackward(nullptr, 0, executor, nullptr), 0)
      << aclGetRecentErrMsg();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0) << aclGetRecentErrMsg();
  ExpectWithin(use, 0, 48 * labels_in_work);
}

}  // namespace mlmargin::testing
