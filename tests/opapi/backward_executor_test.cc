// SPDX-License-Identifier: Apache-2.0
// Phase 2 of the gradient's operator: one-shot and repeatable executors, wrong arguments, and that
// nothing is asked of isTarget's data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "opapi/gradient_run.h"

namespace mlmargin::testing {
namespace {

using ::testing::HasSubstr;

constexpr auto kRun = aclnnMultilabelMarginLossBackward;

class BackwardExecutorTest : public ::testing::Test {
 protected:
  static Batch SmallBatch(uint64_t seed) {
    return MakeBatch(kFloat32, 3, 10, Density::kFew, Spread::kOrdinary, seed);
  }
  static std::vector<uint32_t> GradOutputs(const Batch& batch) {
    return MakeGradOutputs(batch, GradientShape(), 1);
  }
  // Three rows without reduction.
  static GradientTensors SmallTensors(const Batch& batch) {
    return GradientTensors(batch, GradOutputs(batch), GradientShape());
  }
  static void ExpectRight(const Batch& batch, const GradientTensors& tensors) {
    ExpectGradient(batch, ExpectedGradient(batch).Values(0, GradOutputs(batch)),
                   tensors.grad_input->Read(), "");
  }

  AclSession session_;
};

TEST_F(BackwardExecutorTest, AOneShotExecutorRunsOnce) {
  const Batch batch = SmallBatch(1);
  const GradientTensors tensors = SmallTensors(batch);
  const Planned planned = Plan(tensors, 0);
  ASSERT_EQ(planned.status, 0);
  EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 0);
  EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 561103);
  EXPECT_THAT(TakeMessage(), HasSubstr("executor"));
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ExpectRight(batch, tensors);
}

TEST_F(BackwardExecutorTest, NullForeignAndTheForwardsExecutorsAreRefused) {
  EXPECT_EQ(kRun(nullptr, 0, nullptr, nullptr), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr("aclnnMultilabelMarginLossBackward: executor"));
  int local = 0;
  EXPECT_EQ(kRun(nullptr, 0, reinterpret_cast<aclOpExecutor*>(&local), nullptr), 561103);
  const Batch batch = SmallBatch(2);
  const CallTensors forward(batch, CallShape());
  const GradientTensors backward = SmallTensors(batch);
  aclOpExecutor* const of_forward = Plan(forward, 0).executor;
  aclOpExecutor* const of_backward = Plan(backward, 0).executor;
  TakeMessage();
  EXPECT_EQ(kRun(nullptr, 0, of_forward, nullptr), 561103);
  EXPECT_THAT(TakeMessage(), HasSubstr("must come from phase 1 of aclnnMultilabelMarginLossBackward"
                                       ", got that of aclnnMultilabelMarginLoss\n"));
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, of_backward, nullptr), 561103);
  // Neither was spent.
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, of_forward, nullptr), 0);
  EXPECT_EQ(kRun(nullptr, 0, of_backward, nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ExpectRight(batch, backward);
}

TEST_F(BackwardExecutorTest, NoWorkspaceIsNeededAndNoneIsLookedAt) {
  const Batch batch = MakeBatch(kFloat32, 5'000, 10, Density::kFew, Spread::kOrdinary, 3);
  for (const int64_t reduction : {0, 1, 2}) {
    GradientShape shape;
    shape.reduction = reduction;
    const GradientTensors tensors(batch, MakeGradOutputs(batch, shape, 1), shape);
    const Planned planned = Plan(tensors, reduction);
    EXPECT_EQ(planned.workspace_bytes, 0u);
    int on_host = 0;
    EXPECT_EQ(kRun(&on_host, 4, planned.executor, nullptr), 0);
    EXPECT_EQ(kRun(nullptr, 4, Plan(tensors, reduction).executor, nullptr), 161001);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  }
}

TEST_F(BackwardExecutorTest, StreamsOfNoneAreRefused) {
  const GradientTensors tensors = SmallTensors(SmallBatch(4));
  int local = 0;
  EXPECT_EQ(kRun(nullptr, 0, Plan(tensors, 0).executor, &local), 107017);
  EXPECT_THAT(TakeMessage(), HasSubstr("stream"));
  EXPECT_TRUE(tensors.NothingWritten());
}

// With addresses that are set after phase 1: those of all tensors but isTarget are needed.
TEST_F(BackwardExecutorTest, NullDataMayBeSetLaterAndIsTargetsNeedNotBe) {
  const Batch batch = SmallBatch(5);
  const GradientTensors tensors = SmallTensors(batch);
  const DeviceTensor* const sources[] = {tensors.grad_output.get(), tensors.self.get(),
                                         tensors.target.get(), tensors.is_target.get(),
                                         tensors.grad_input.get()};
  const char* const names[] = {"gradOutput", "self", "target", "isTarget", "gradInput"};
  std::vector<aclTensor*> handles;
  for (const DeviceTensor* source : sources) {
    const View& view = source->view();
    const int64_t elements = view.StorageElements();
    handles.push_back(aclCreateTensor(view.shape.data(), view.shape.size(),
                                      source == tensors.target.get() ? ACL_INT64 : ACL_FLOAT,
                                      view.strides.data(), 0, ACL_FORMAT_ND, &elements, 1,
                                      nullptr));
  }
  uint64_t bytes = 77;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
                handles[0], handles[1], handles[2], 0, handles[3], handles[4], &bytes, &executor),
            0)
      << TakeMessage();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  for (const size_t i : std::initializer_list<size_t>{0, 1, 2, 4}) {
    EXPECT_EQ(kRun(nullptr, 0, executor, nullptr), 161002);
    EXPECT_THAT(TakeMessage(),
                HasSubstr(std::string(names[i]) + ": its data must be set before phase 2"));
    ASSERT_EQ(aclSetTensorAddr(executor, i, handles[i], sources[i]->data()), 0);
  }
  EXPECT_EQ(kRun(nullptr, 0, executor, nullptr), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ExpectRight(batch, tensors);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  for (aclTensor* handle : handles) EXPECT_EQ(aclDestroyTensor(handle), 0);
}

TEST_F(BackwardExecutorTest, OnlyIsTargetMayLieOutsideDeviceMemory) {
  const Batch batch = SmallBatch(6);
  const GradientTensors tensors = SmallTensors(batch);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 256, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  ASSERT_EQ(aclrtFree(freed), 0);
  std::vector<char> host(256);
  const DeviceTensor* const all[] = {tensors.grad_output.get(), tensors.self.get(),
                                     tensors.target.get(), tensors.is_target.get(),
                                     tensors.grad_input.get()};
  const char* const names[] = {"gradOutput", "self", "target", "isTarget", "gradInput"};
  for (void* address : {freed, static_cast<void*>(host.data())}) {
    for (size_t i = 0; i < std::size(all); ++i) {
      const Planned planned = Plan(tensors, 0);
      ASSERT_EQ(aclSetTensorAddr(planned.executor, i, all[i]->handle(), address), 0);
      if (i == 3) {
        EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 0) << TakeMessage();
      } else {
        EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 161002);
        EXPECT_THAT(TakeMessage(), HasSubstr(std::string(names[i]) + ": its data must lie in"));
      }
      aclOpExecutor* const again = Plan(tensors, 0).executor;  // Gives the tensor its own back.
      ASSERT_EQ(aclSetTensorAddr(again, i, all[i]->handle(), all[i]->data()), 0);
      EXPECT_EQ(aclDestroyAclOpExecutor(again), 0);
    }
  }
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ExpectRight(batch, tensors);
}

TEST_F(BackwardExecutorTest, WhatIsTargetHoldsIsNeverRead) {
  const Batch batch = SmallBatch(7);
  const GradientTensors untouched = SmallTensors(batch);
  EXPECT_EQ(kRun(nullptr, 0, Plan(untouched, 0).executor, nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  for (const uint32_t bits : {0u, 0xFFFFFFFFu, 0x7FC00000u, std::bit_cast<uint32_t>(2.0f),
                              std::bit_cast<uint32_t>(-1.0f), std::bit_cast<uint32_t>(1.0f)}) {
    const GradientTensors tensors = SmallTensors(batch);
    tensors.is_target->Write(std::vector<int64_t>(30, bits));
    EXPECT_EQ(kRun(nullptr, 0, Plan(tensors, 0).executor, nullptr), 0);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(tensors.grad_input->Read(), untouched.grad_input->Read());
    EXPECT_TRUE(tensors.NothingElseWritten());
  }
  ExpectRight(batch, untouched);
}

TEST_F(BackwardExecutorTest, ARepeatableExecutorTakesNewAddresses) {
  const Batch first = SmallBatch(8), second = SmallBatch(9);
  const GradientTensors tensors = SmallTensors(first), others = SmallTensors(second);
  const Planned planned = Plan(tensors, 0);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor), 0);
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 0);
  }
  // The queued runs keep their addresses; the next one takes the new ones.
  const auto set_input = [&](size_t index, const DeviceTensor& own, const DeviceTensor& other) {
    EXPECT_EQ(aclSetInputTensorAddr(planned.executor, index, own.handle(), other.data()), 0);
  };
  set_input(0, *tensors.grad_output, *others.grad_output);
  set_input(1, *tensors.self, *others.self);
  set_input(2, *tensors.target, *others.target);
  set_input(3, *tensors.is_target, *others.is_target);
  EXPECT_EQ(aclSetOutputTensorAddr(planned.executor, 0, tensors.grad_input->handle(),
                                   others.grad_input->data()),
            0);
  EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ExpectRight(first, tensors);
  ExpectRight(second, others);
  aclTensor* const self = tensors.self->handle();
  EXPECT_EQ(aclSetInputTensorAddr(planned.executor, 4, self, self), 161002);
  EXPECT_EQ(aclSetOutputTensorAddr(planned.executor, 1, self, self), 161002);
  EXPECT_EQ(aclSetTensorAddr(planned.executor, 5, self, self), 161002);
  EXPECT_EQ(aclDestroyAclOpExecutor(planned.executor), 0);
  EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 561103);
}

TEST_F(BackwardExecutorTest, OverlapThatAnAddressUpdateMakesIsRefusedAtPhaseTwo) {
  const Batch batch = SmallBatch(10);
  const GradientTensors tensors = SmallTensors(batch);
  const Planned planned = Plan(tensors, 0);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor), 0);
  const auto set_output = [&](const DeviceTensor& tensor) {
    return aclSetOutputTensorAddr(planned.executor, 0, tensors.grad_input->handle(), tensor.data());
  };
  ASSERT_EQ(set_output(*tensors.self), 0);
  EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 161002);
  EXPECT_THAT(TakeMessage(), HasSubstr("gradInput: it must not share memory with self"));
  ASSERT_EQ(set_output(*tensors.is_target), 0);
  EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 161002);
  EXPECT_THAT(TakeMessage(), HasSubstr("gradInput: it must not share memory with isTarget"));
  EXPECT_TRUE(tensors.NothingWritten());
  ASSERT_EQ(set_output(*tensors.grad_input), 0);
  EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  ExpectRight(batch, tensors);
  EXPECT_EQ(aclDestroyAclOpExecutor(planned.executor), 0);
}

TEST_F(BackwardExecutorTest, TensorsMayGoAfterPhaseOneAndMemoryWhileQueued) {
  const Batch batch = SmallBatch(11);
  auto tensors = std::make_unique<GradientTensors>(batch, GradOutputs(batch), GradientShape());
  const Planned planned = Plan(*tensors, 0);
  EXPECT_EQ(kRun(nullptr, 0, planned.executor, nullptr), 0);
  tensors.reset();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
}

// What a training step does: the loss, then its gradient with the mask that the loss wrote.
TEST_F(BackwardExecutorTest, LossAndGradientRunOneAfterTheOtherOnAStream) {
  const Batch batch = SmallBatch(12);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), 0);
  const CallTensors forward(batch, CallShape());
  const GradientTensors backward = SmallTensors(batch);
  uint64_t bytes = 77;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
                backward.grad_output->handle(), forward.self->handle(), forward.target->handle(), 0,
                forward.is_target->handle(), backward.grad_input->handle(), &bytes, &executor),
            0)
      << TakeMessage();
  EXPECT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, Plan(forward, 0).executor, stream), 0);
  EXPECT_EQ(kRun(nullptr, 0, executor, stream), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  ExpectRight(batch, backward);
  EXPECT_TRUE(forward.NothingElseWritten());
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

}  // namespace
}  // namespace mlmargin::testing
