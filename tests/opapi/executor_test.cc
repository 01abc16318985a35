// SPDX-License-Identifier: Apache-2.0
// Phase 2 of the operator: one-shot and repeatable executors, what each wrong argument gives, and
// what may be destroyed when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "opapi/loss_run.h"
#include "support/sanitizers.h"

namespace mlmargin::testing {
namespace {

using ::testing::HasSubstr;

class ExecutorTest : public ::testing::Test {
 protected:
  Batch SmallBatch(uint64_t seed) const {
    return MakeBatch(kFloat32, 3, 10, Density::kFew, Spread::kOrdinary, seed);
  }
  void ExpectRight(const Batch& batch, const CallTensors& tensors, int64_t reduction) {
    const Expected expected(batch);
    ExpectLosses(batch, expected.Losses(reduction), expected.mask(), tensors.Result(), "");
  }

  AclSession session_;
};

TEST_F(ExecutorTest, AOneShotExecutorRunsOnce) {
  const Batch batch = SmallBatch(1);
  const CallTensors tensors(batch, CallShape());
  const Planned planned = Plan(tensors, 0);
  ASSERT_EQ(planned.status, 0);
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, planned.executor, nullptr), 0);
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, planned.executor, nullptr), 561103);
  EXPECT_THAT(TakeMessage(), HasSubstr("executor"));
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ExpectRight(batch, tensors, 0);
}

TEST_F(ExecutorTest, NullAndForeignExecutorsAreRefused) {
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, nullptr, nullptr), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr("executor"));
  int local = 0;
  EXPECT_EQ(
      aclnnMultilabelMarginLoss(nullptr, 0, reinterpret_cast<aclOpExecutor*>(&local), nullptr),
      561103);
  EXPECT_THAT(TakeMessage(), HasSubstr("executor"));
}

TEST_F(ExecutorTest, AWorkspaceIsNeededAndMustBeLargeEnoughAndOnTheDevice) {
  CallShape shape;
  shape.reduction = 1;
  const CallTensors tensors(SmallBatch(2), shape);
  const auto run = [&](void* workspace, uint64_t bytes) {
    const Planned planned = Plan(tensors, 1);
    EXPECT_EQ(planned.status, 0);
    EXPECT_GT(planned.workspace_bytes, 0u);
    return aclnnMultilabelMarginLoss(workspace, bytes, planned.executor, nullptr);
  };
  const uint64_t needed = Plan(tensors, 1).workspace_bytes;
  const Workspace workspace(needed);
  std::vector<char> host(needed);
  EXPECT_EQ(run(nullptr, needed), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr("workspace"));
  EXPECT_EQ(run(workspace.data(), needed - 1), 161002);
  EXPECT_THAT(TakeMessage(), HasSubstr(std::to_string(needed)));
  EXPECT_EQ(run(host.data(), needed), 161002);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_TRUE(tensors.NothingWritten());
  EXPECT_EQ(run(workspace.data(), needed), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
}

TEST_F(ExecutorTest, AWorkspaceNeedsNoAlignment) {
  const Batch batch = SmallBatch(3);
  CallShape shape;
  shape.reduction = 2;
  const CallTensors tensors(batch, shape);
  const Planned planned = Plan(tensors, 2);
  const Workspace workspace(planned.workspace_bytes + 3);
  EXPECT_EQ(aclnnMultilabelMarginLoss(static_cast<char*>(workspace.data()) + 3,
                                      planned.workspace_bytes, planned.executor, nullptr),
            0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ExpectRight(batch, tensors, 2);
}

TEST_F(ExecutorTest, StreamsOfNoneAndOfAnotherContextAreRefused) {
  const CallTensors tensors(SmallBatch(4), CallShape());
  int local = 0;
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, Plan(tensors, 0).executor, &local), 107017);
  EXPECT_THAT(TakeMessage(), HasSubstr("stream"));
  aclrtContext first = nullptr, second = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), 0);
  ASSERT_EQ(aclrtCreateContext(&second, 0), 0);
  aclrtStream foreign = nullptr;
  ASSERT_EQ(aclrtCreateStream(&foreign), 0);
  ASSERT_EQ(aclrtSetCurrentContext(first), 0);
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, Plan(tensors, 0).executor, foreign), 107003);
  ASSERT_EQ(aclrtSetCurrentContext(second), 0);
  ASSERT_EQ(aclrtDestroyStream(foreign), 0);
  ASSERT_EQ(aclrtDestroyContext(second), 0);
  ASSERT_EQ(aclrtSetCurrentContext(first), 0);
  EXPECT_TRUE(tensors.NothingWritten());
}

TEST_F(ExecutorTest, DataMustLieInLiveDeviceMemory) {
  const int64_t shape[] = {2};
  std::vector<float> host(2, 0.0f);
  DeviceTensor good(View{{2}, {1}, 0}, ACL_FLOAT), target(View{{2}, {1}, 0}, ACL_INT64);
  DeviceTensor out(View{{}, {}, 0}, ACL_FLOAT), mask(View{{2}, {1}, 0}, ACL_FLOAT);
  target.Write({0, -1});
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  ASSERT_EQ(aclrtFree(freed), 0);
  void* const last_float = static_cast<char*>(good.data()) + 28;  // 32 bytes are usable.
  for (void* data :
       {static_cast<void*>(nullptr), static_cast<void*>(host.data()), freed, last_float}) {
    aclTensor* const self =
        aclCreateTensor(shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 1, data);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(self, target.handle(), 0, out.handle(),
                                                        mask.handle(), &bytes, &executor),
              0)
        << TakeMessage();
    EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, executor, nullptr), 161002);
    EXPECT_THAT(TakeMessage(), HasSubstr("self"));
    EXPECT_EQ(aclDestroyTensor(self), 0);
  }
  EXPECT_TRUE(out.Untouched());
  EXPECT_TRUE(mask.Untouched());
}

TEST_F(ExecutorTest, PinnedAndRegisteredHostMemoryAreTold) {
  // Registered host memory is as good as device memory.
  std::vector<char> storage(3 * 4096);
  const auto start = (reinterpret_cast<uintptr_t>(storage.data()) + 4095) & ~uintptr_t{4095};
  void* const page = reinterpret_cast<void*>(start);
  void* device = nullptr;
  ASSERT_EQ(aclrtHostRegister(page, 4096, ACL_HOST_REGISTER_MAPPED, &device), 0);
  const float scores[] = {0.5f, 0.25f};
  std::memcpy(page, scores, sizeof(scores));
  const int64_t shape[] = {2};
  DeviceTensor target(View{{2}, {1}, 0}, ACL_INT64), out(View{{}, {}, 0}, ACL_FLOAT);
  DeviceTensor mask(View{{2}, {1}, 0}, ACL_FLOAT);
  target.Write({0, -1});
  aclTensor* const self =
      aclCreateTensor(shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 1, device);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(self, target.handle(), 0, out.handle(),
                                                      mask.handle(), &bytes, &executor),
            0);
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, executor, nullptr), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(out.Read()[0], 0x3EC00000u);  // 0.375
  EXPECT_EQ(aclDestroyTensor(self), 0);
  EXPECT_EQ(aclrtHostUnregister(page), 0);
}

TEST_F(ExecutorTest, TensorsMayGoAfterPhaseOneAndMemoryWhileQueued) {
  const Batch batch = SmallBatch(5);
  CallShape shape;
  shape.reduction = 1;
  auto tensors = std::make_unique<CallTensors>(batch, shape);
  const Planned planned = Plan(*tensors, 1);
  auto workspace = std::make_unique<Workspace>(planned.workspace_bytes);
  // Tensor handles and memory are gone before the stream is waited for: nothing may crash.
  EXPECT_EQ(aclnnMultilabelMarginLoss(workspace->data(), planned.workspace_bytes, planned.executor,
                                      nullptr),
            0);
  tensors.reset();
  workspace.reset();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
}

TEST_F(ExecutorTest, OutputsAddressedInPhaseOneGetTheResultThoughTheTensorsAreGone) {
  const int64_t shape[] = {2};
  DeviceTensor self(View{{2}, {1}, 0}, ACL_FLOAT), target(View{{2}, {1}, 0}, ACL_INT64);
  DeviceTensor out(View{{}, {}, 0}, ACL_FLOAT), mask(View{{2}, {1}, 0}, ACL_FLOAT);
  self.Write({0, 0});
  target.Write({1, -1});
  aclTensor* const handles[] = {
      aclCreateTensor(shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 1, self.data()),
      aclCreateTensor(shape, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape, 1, target.data()),
      aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, out.data()),
      aclCreateTensor(shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 1, mask.data())};
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(handles[0], handles[1], 0, handles[2],
                                                      handles[3], &bytes, &executor),
            0)
      << TakeMessage();
  for (aclTensor* handle : handles) EXPECT_EQ(aclDestroyTensor(handle), 0);
  EXPECT_EQ(aclDestroyTensor(handles[0]), 161002);
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, executor, nullptr), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(out.Read()[0], 0x3F000000u);  // 0.5
}

TEST_F(ExecutorTest, ARepeatableExecutorTakesNewAddresses) {
  const Batch first = SmallBatch(6), second = SmallBatch(7);
  CallShape shape;
  const CallTensors tensors(first, shape), others(second, shape);
  const Planned planned = Plan(tensors, 0);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor), 0);
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, planned.executor, nullptr), 0);
  }
  // The queued runs keep their addresses; the next one takes the new ones.
  EXPECT_EQ(aclSetInputTensorAddr(planned.executor, 0, tensors.self->handle(), others.self->data()),
            0);
  EXPECT_EQ(
      aclSetInputTensorAddr(planned.executor, 1, tensors.target->handle(), others.target->data()),
      0);
  EXPECT_EQ(aclSetOutputTensorAddr(planned.executor, 0, tensors.out->handle(), others.out->data()),
            0);
  EXPECT_EQ(
      aclSetTensorAddr(planned.executor, 3, tensors.is_target->handle(), others.is_target->data()),
      0);
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, planned.executor, nullptr), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ExpectRight(first, tensors, 0);
  ExpectRight(second, others, 0);
  void* address = nullptr;
  EXPECT_EQ(aclGetRawTensorAddr(tensors.self->handle(), &address), 0);
  EXPECT_EQ(address, others.self->data());
  EXPECT_EQ(aclSetInputTensorAddr(planned.executor, 2, tensors.self->handle(), address), 161002);
  EXPECT_EQ(aclSetOutputTensorAddr(planned.executor, 2, tensors.self->handle(), address), 161002);
  EXPECT_EQ(aclSetTensorAddr(planned.executor, 4, tensors.self->handle(), address), 161002);
  EXPECT_EQ(aclDestroyAclOpExecutor(planned.executor), 0);
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, planned.executor, nullptr), 561103);
}

TEST_F(ExecutorTest, OverlapThatAnAddressUpdateMakesIsRefusedAtPhaseTwo) {
  const Batch batch = SmallBatch(8);
  const CallTensors tensors(batch, CallShape());
  const Planned planned = Plan(tensors, 0);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor), 0);
  ASSERT_EQ(aclSetOutputTensorAddr(planned.executor, 1, tensors.is_target->handle(),
                                   tensors.self->data()),
            0);
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, planned.executor, nullptr), 161002);
  EXPECT_THAT(TakeMessage(), HasSubstr("isTarget: it must not share memory with self"));
  ASSERT_EQ(aclSetOutputTensorAddr(planned.executor, 1, tensors.is_target->handle(),
                                   tensors.is_target->data()),
            0);
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, planned.executor, nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ExpectRight(batch, tensors, 0);
  EXPECT_EQ(aclDestroyAclOpExecutor(planned.executor), 0);
}

// Sanitizers keep freed memory for a while and so grow by design.
#ifndef MLMARGIN_SANITIZED
int64_t ResidentKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::stoll(line.substr(6));
  }
  return 0;
}

class GrowthTest : public ::testing::Test {
 protected:
  // Before the session: thousands of calls fail here on purpose.
  const int quiet_log_ = setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
  AclSession session_;
};

TEST_F(GrowthTest, AHundredThousandCallsLeaveNothingBehindFailingOnesIncluded) {
  const CallTensors tensors(MakeBatch(kFloat32, 3, 10, Density::kFew, Spread::kOrdinary, 9),
                            CallShape());
  const auto call = [&](int k) {
    const Planned planned = Plan(tensors, k % 4 == 3 ? 9 : 0);
    void* const stream = k % 5 == 4 ? static_cast<void*>(&k) : nullptr;
    const aclnnStatus status = aclnnMultilabelMarginLoss(nullptr, 0, planned.executor, stream);
    ASSERT_EQ(status == 0, planned.status == 0 && stream == nullptr);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  };
  for (int k = 0; k < 2'000; ++k) call(k);
  const int64_t before = ResidentKib();
  for (int k = 0; k < 100'000; ++k) call(k);
  EXPECT_LT(ResidentKib() - before, 2'000) << "KiB grown";
}
#endif

}  // namespace
}  // namespace mlmargin::testing
