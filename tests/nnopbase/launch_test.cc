// SPDX-License-Identifier: Apache-2.0
// Phase 2: what it checks, what it holds while its work is queued, and how failures come back.
#include <cstdint>
#include <vector>

#include "nnopbase/sum_operator.h"
#include "runtime/stream_fixture.h"

namespace mlmargin::nnopbase {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class LaunchTest : public SumTest {
 protected:
  // Holds the default stream back until Open() is called.
  void Block() {
    ASSERT_EQ(aclrtLaunchHostFunc(nullptr, runtime::Blocker::HostFunction, &blocker_), ACL_SUCCESS);
  }
  void Open() { blocker_.released.Open(); }
  void TearDown() override {
    Open();
    SumTest::TearDown();
  }

 private:
  runtime::Blocker blocker_;
};

// ---- Checks --------------------------------------------------------------------------------

TEST_F(LaunchTest, ChecksTheExecutorFirst) {
  EXPECT_EQ(Phase2(nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(Phase2(nullptr, ForeignHandle<void>()), ACLNN_ERR_PARAM_NULLPTR);
  const Status status = Launch(kSum, nullptr, 0, ForeignHandle<aclOpExecutor>(), nullptr);
  EXPECT_EQ(status.code(), ACLNN_ERR_INNER_NULLPTR);
  EXPECT_THAT(status.text(), HasSubstr("executor: must be a live executor, got 0xac000"));
}

TEST_F(LaunchTest, AnotherOperatorsExecutorIsRefusedAndStaysGood) {
  aclOpExecutor* const executor = Phase1();
  const Status status = Launch("aclnnOther", nullptr, 0, executor, nullptr);
  EXPECT_EQ(status.code(), ACLNN_ERR_INNER_NULLPTR);
  EXPECT_THAT(status.text(),
              HasSubstr("must come from phase 1 of aclnnOther, got that of aclnnSum"));
  EXPECT_EQ(Phase2(executor), ACLNN_SUCCESS);
}

// The same call with one argument more that the operator never touches, once said so and once not.
TEST_F(LaunchTest, DataThatIsNotNeededIsNotLookedAt) {
  std::shared_ptr<const Tensor> first, second, out, unused;
  ASSERT_TRUE(FindTensor(first_.get(), "first", &first).ok());
  ASSERT_TRUE(FindTensor(second_.get(), "second", &second).ok());
  ASSERT_TRUE(FindTensor(out_.get(), "out", &out).ok());
  int on_host = 0;
  for (void* data : {static_cast<void*>(nullptr), static_cast<void*>(&on_host)}) {
    const TensorHolder tensor = MakeTensor({.shape = {1}, .dtype = ACL_INT32, .data = data});
    ASSERT_TRUE(FindTensor(tensor.get(), "unused", &unused).ok());
    for (const bool needs_data : {true, false}) {
      aclOpExecutor* executor = nullptr;
      ASSERT_TRUE(CreateExecutor(kSum, {{"first", first}, {"second", second}},
                                 {{"out", out}, {"unused", unused, needs_data}}, 0,
                                 std::make_shared<SumOperator>(2, 0), &executor)
                      .ok());
      EXPECT_EQ(Phase2(executor), needs_data ? ACLNN_ERR_PARAM_INVALID : ACLNN_SUCCESS);
    }
  }
  EXPECT_THAT(Out(), ElementsAre(11, 22));
}

TEST_F(LaunchTest, AWorkspaceIsTakenWhereOneIsNeeded) {
  const DeviceInts workspace(std::vector<int32_t>(16));
  const auto launch = [&](void* address, uint64_t bytes) {
    return Launch(kSum, address, bytes, Phase1(64), nullptr).code();
  };
  EXPECT_EQ(launch(nullptr, 64), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(launch(nullptr, 0), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(launch(workspace.data(), 63), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(launch(static_cast<char*>(workspace.data()) + 32, 64), ACLNN_ERR_PARAM_INVALID);
  int on_host[16];
  EXPECT_EQ(launch(on_host, 64), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(SumOperator::num_runs, 0);
  EXPECT_EQ(launch(workspace.data(), 64), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
  EXPECT_EQ(workspace.Values()[1], 22);
}

TEST_F(LaunchTest, AWorkspaceThatIsNotNeededIsNotLookedAt) {
  int on_host = 0;
  EXPECT_EQ(Launch(kSum, &on_host, 4, Phase1(), nullptr).code(), ACLNN_SUCCESS);
  EXPECT_EQ(Launch(kSum, nullptr, 4, Phase1(), nullptr).code(), ACLNN_ERR_PARAM_NULLPTR);
}

TEST_F(LaunchTest, TheStreamMustBeOneOfTheCurrentContext) {
  EXPECT_EQ(Phase2(Phase1(), ForeignHandle<void>()), ACL_ERROR_RT_INVALID_HANDLE);
  aclrtStream stream = nullptr;
  aclrtContext context = nullptr;
  aclrtContext before = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(Phase2(Phase1(), stream), ACL_ERROR_RT_STREAM_CONTEXT);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(Phase2(Phase1()), ACL_ERROR_RT_CONTEXT_NULL);
  ASSERT_EQ(aclrtSetCurrentContext(before), ACL_SUCCESS);
  EXPECT_EQ(Phase2(Phase1(), stream), ACLNN_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(LaunchTest, DataMustBeSetAndLieInDeviceMemory) {
  int on_host[2] = {0, 0};
  char* const short_by_one = static_cast<char*>(memory_->first.data()) + 28;  // Of 32 bytes.
  const std::pair<void*, const char*> bad[] = {
      {nullptr, "second: its data must be set"},
      {on_host, "second: its data must lie in one live device allocation"},
      {short_by_one, "the view touches 8 bytes from byte 0 on"},
      {reinterpret_cast<void*>(~uintptr_t{3}), "second: its data must lie in"}};
  for (const auto& [address, text] : bad) {
    ASSERT_EQ(aclSetRawTensorAddr(second_.get(), address), ACLNN_SUCCESS);
    const Status status = Launch(kSum, nullptr, 0, Phase1(), nullptr);
    EXPECT_EQ(status.code(), ACLNN_ERR_PARAM_INVALID);
    EXPECT_THAT(status.text(), HasSubstr(text));
  }
  EXPECT_EQ(SumOperator::num_runs, 0);
}

TEST_F(LaunchTest, FreedMemoryIsRefused) {
  const DeviceInts keeps_the_table_from_being_empty({1});
  aclOpExecutor* const executor = Phase1();
  memory_->second.Free();
  EXPECT_EQ(Phase2(executor), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(LaunchTest, AnOffsetThatWrapsAroundIntoLiveMemoryIsRefused) {
  constexpr int64_t kOffset = int64_t{1} << 46;
  const uintptr_t live = reinterpret_cast<uintptr_t>(memory_->second.data());
  second_ = MakeTensor({.shape = {2},
                        .dtype = ACL_INT32,
                        .offset = kOffset,
                        .storage = Dims{kOffset + 2},
                        .data = reinterpret_cast<void*>(live - kOffset * sizeof(int32_t))});
  EXPECT_EQ(Phase2(Phase1()), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(LaunchTest, OnlyTheBytesOfTheViewMustBeThere) {
  // Two elements at the end of 8: the view begins where the memory does.
  second_ = MakeTensor({.shape = {2},
                        .dtype = ACL_INT32,
                        .offset = 6,
                        .storage = Dims{8},
                        .data = static_cast<char*>(memory_->second.data()) - 24});
  EXPECT_EQ(Phase2(Phase1()), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
}

TEST_F(LaunchTest, EmptyTensorsNeedNoData) {
  const TensorHolder empty = MakeTensor({.shape = {0}, .dtype = ACL_INT32});
  aclOpExecutor* const executor = nnopbase::Phase1(empty.get(), empty.get(), empty.get());
  EXPECT_EQ(Phase2(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(SumOperator::num_runs, 1);
}

TEST_F(LaunchTest, TheOperatorJudgesTheAddresses) {
  ASSERT_EQ(aclSetRawTensorAddr(out_.get(), memory_->first.data()), ACLNN_SUCCESS);
  const Status status = Launch(kSum, nullptr, 0, Phase1(), nullptr);
  EXPECT_EQ(status.code(), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(status.text(), "out: must not be first");
  EXPECT_EQ(SumOperator::num_runs, 0);
}

TEST_F(LaunchTest, RegisteredHostMemoryIsDeviceMemoryToo) {
  alignas(4096) static int32_t page[1024] = {5, 6};
  void* registered = nullptr;
  ASSERT_EQ(aclrtHostRegister(page, sizeof(page), ACL_HOST_REGISTER_MAPPED, &registered),
            ACL_SUCCESS);
  ASSERT_EQ(aclSetRawTensorAddr(first_.get(), registered), ACLNN_SUCCESS);
  EXPECT_EQ(Phase2(Phase1()), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(15, 26));
  EXPECT_EQ(aclrtHostUnregister(page), ACL_SUCCESS);
}

// ---- What is consumed ----------------------------------------------------------------------

TEST_F(LaunchTest, AFailureConsumesAOneShotExecutor) {
  aclOpExecutor* const executor = Phase1(64);
  EXPECT_EQ(Phase2(executor), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(Phase2(executor), ACLNN_ERR_INNER_NULLPTR);
  EXPECT_EQ(SumOperator::num_destroyed, 1);
}

TEST_F(LaunchTest, AFailureLeavesARepeatableExecutorAsItWas) {
  aclOpExecutor* const executor = Phase1();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  EXPECT_EQ(Phase2(executor, ForeignHandle<void>()), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(Phase2(executor), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
}

// ---- Work in the queue ---------------------------------------------------------------------

TEST_F(LaunchTest, ReturnsBeforeTheWorkIsDone) {
  Block();
  EXPECT_EQ(Phase2(Phase1()), ACLNN_SUCCESS);
  EXPECT_EQ(SumOperator::num_runs, 0);
  Open();
  EXPECT_THAT(Out(), ElementsAre(11, 22));
}

TEST_F(LaunchTest, MemoryFreedWhileTheWorkIsQueuedStaysMapped) {
  auto workspace = std::make_unique<DeviceInts>(std::vector<int32_t>(16));
  Block();
  EXPECT_EQ(Launch(kSum, workspace->data(), 64, Phase1(64), nullptr).code(), ACLNN_SUCCESS);
  workspace->Free();
  memory_->first.Free();
  memory_->out.Free();
  Open();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << TakeErrorText();
  EXPECT_EQ(SumOperator::num_runs, 1);
}

TEST_F(LaunchTest, AFailureOfTheWorkNamesTheOperatorInTheWaitingCall) {
  SumOperator::failure_code = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
  EXPECT_EQ(Phase2(Phase1()), ACLNN_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  EXPECT_THAT(
      TakeErrorText(),
      AllOf(HasSubstr("(EZ2001)"), HasSubstr("aclrtSynchronizeStream: aclnnSum: the sum failed")));
  SumOperator::failure_code = 0;
  EXPECT_EQ(Phase2(Phase1()), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
}

}  // namespace
}  // namespace mlmargin::nnopbase
