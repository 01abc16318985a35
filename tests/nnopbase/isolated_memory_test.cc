// SPDX-License-Identifier: Apache-2.0
// Operators on isolated device memory: they find their data, and what they do wrong is said with
// the name of the tensor.
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "mlmargin/device.h"
#include "nnopbase/sum_operator.h"
#include "runtime/stream_fixture.h"

namespace mlmargin::nnopbase {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class IsolatedLaunchTest : public SumTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(SetDeviceMemory(DeviceMemory::kIsolated));
    SumTest::SetUp();
  }
  void TearDown() override {
    SumTest::TearDown();
    EXPECT_TRUE(SetDeviceMemory(DeviceMemory::kShared));
  }
};

TEST_F(IsolatedLaunchTest, OperatorsFindTheirDataAndTheirWorkspace) {
  const DeviceInts workspace(std::vector<int32_t>(16));
  EXPECT_EQ(Launch(kSum, workspace.data(), 64, Phase1(64), nullptr).code(), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
  EXPECT_THAT(workspace.Values(), testing::Contains(22));
}

TEST_F(IsolatedLaunchTest, AViewBehindTheFirstByteOfItsBlockIsFoundThere) {
  const DeviceInts block({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 40});
  const TensorHolder second = MakeTensor({.shape = {2},
                                          .dtype = ACL_INT32,
                                          .offset = 2,
                                          .storage = {4},
                                          .data = static_cast<int32_t*>(block.data()) + 8});
  EXPECT_EQ(Phase2(nnopbase::Phase1(first_.get(), second.get(), out_.get())), ACLNN_SUCCESS);
  EXPECT_THAT(Out(), ElementsAre(31, 42));
}

TEST_F(IsolatedLaunchTest, ATensorFreedWhileTheWorkIsQueuedIsNamedAndNothingRuns) {
  runtime::Blocker blocker;
  ASSERT_EQ(aclrtLaunchHostFunc(nullptr, runtime::Blocker::HostFunction, &blocker), ACL_SUCCESS);
  EXPECT_EQ(Phase2(Phase1()), ACLNN_SUCCESS);
  memory_->second.Free();
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_DEVICE_MEM_ERROR);
  EXPECT_THAT(TakeErrorText(), AllOf(HasSubstr("aclnnSum: the memory of second (8 bytes at 0x"),
                                     HasSubstr("wait for the stream before aclrtFree")));
  EXPECT_EQ(SumOperator::num_runs, 0);
  EXPECT_THAT(memory_->out.Values(), ElementsAre(-1, -1));
}

// Writes behind its output, whose memory ends after eight integers.
class OverrunningOperator final : public Operator {
 public:
  Status CheckAddresses(std::span<void* const>) const override { return {}; }
  Status Run(std::span<void* const> addresses, void*) const override {
    static_cast<volatile int32_t*>(addresses[0])[9] = 1;
    return {};
  }
};

void RunOverrun() {
  if (!SetDeviceMemory(DeviceMemory::kIsolated) || aclInit(nullptr) != 0) std::_Exit(1);
  if (aclrtSetDevice(0) != 0) std::_Exit(2);
  const DeviceInts memory({1, 2});
  const TensorHolder out = MakeTensor({.shape = {2}, .dtype = ACL_INT32, .data = memory.data()});
  std::shared_ptr<const Tensor> tensor;
  aclOpExecutor* executor = nullptr;
  if (!FindTensor(out.get(), "out", &tensor).ok()) std::_Exit(3);
  static_cast<void>(CreateExecutor("aclnnOverrun", {}, {{"out", tensor}}, 0,
                                   std::make_shared<OverrunningOperator>(), &executor));
  static_cast<void>(Launch("aclnnOverrun", nullptr, 0, executor, nullptr));
  aclrtSynchronizeStream(nullptr);
  std::_Exit(0);
}

// libbacktrace does not find the line of an inline function in every build; then it is its name.
TEST(IsolatedLaunchDeathTest, AnOverrunNamesTheTensor) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(RunOverrun(),
               "mlmargin: byte 4 past the end of device allocation [0-9]+ .32 bytes at "
               "0x[0-9a-f]+ on device 0, from .*(sum_operator.h:[0-9]+|DeviceInts.*). was "
               "(written|touched) by a task; aclnnOverrun has out there, 8 bytes from byte 0 on");
}

}  // namespace
}  // namespace mlmargin::nnopbase
