// SPDX-License-Identifier: Apache-2.0
// Many threads at once, and many calls: nothing tears, nothing runs twice, nothing piles up.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "nnopbase/sum_operator.h"
#include "support/sanitizers.h"

namespace mlmargin::nnopbase {
namespace {

using testing::ElementsAre;

// The failures that are made here on purpose would fill the screen.
[[maybe_unused]] const int kQuiet = setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 0);

constexpr int kThreads = 4;

void RunInThreads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

class ThreadsTest : public SumTest {};

TEST_F(ThreadsTest, EachCanUseItsOwnTensorsAndExecutors) {
  RunInThreads([&](int) {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    const DeviceInts out({-1, -1});
    for (int i = 0; i < 200; ++i) {
      const TensorHolder tensor =
          MakeTensor({.shape = {2}, .dtype = ACL_INT32, .data = out.data()});
      aclOpExecutor* const executor = nnopbase::Phase1(first_.get(), second_.get(), tensor.get());
      EXPECT_EQ(Phase2(executor, stream), ACLNN_SUCCESS);
    }
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_THAT(out.Values(), ElementsAre(11, 22));
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(SumOperator::num_runs, kThreads * 200);
}

TEST_F(ThreadsTest, OnlyOneGetsAOneShotExecutor) {
  constexpr int kRounds = 2000;
  std::vector<aclOpExecutor*> executors;
  for (int i = 0; i < kRounds; ++i) executors.push_back(Phase1());
  std::atomic<int> launched = 0;
  std::atomic<int> arrived = 0;
  RunInThreads([&](int) {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (int i = 0; i < kRounds; ++i) {
      // All begin a round together, as far as the scheduler lets them.
      ++arrived;
      while (arrived < kThreads * (i + 1)) std::this_thread::yield();
      const int32_t code = Phase2(executors[static_cast<size_t>(i)]);
      EXPECT_TRUE(code == ACLNN_SUCCESS || code == ACLNN_ERR_INNER_NULLPTR);
      if (code == ACLNN_SUCCESS) ++launched;
    }
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(launched, kRounds);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
  EXPECT_EQ(SumOperator::num_runs, kRounds);
  EXPECT_EQ(SumOperator::num_destroyed, kRounds);
}

TEST_F(ThreadsTest, OnlyOneDestroysATensor) {
  for (int i = 0; i < 100; ++i) {
    aclTensor* const tensor = CreateTensor({.shape = {2}});
    std::atomic<int> destroyed = 0;
    RunInThreads([&](int) {
      if (aclDestroyTensor(tensor) == ACLNN_SUCCESS) ++destroyed;
    });
    EXPECT_EQ(destroyed, 1);
  }
}

// Against the rules of the API, so that only freedom from crashes and races is asked for.
TEST_F(ThreadsTest, RacingOnOneRepeatableExecutorIsSafe) {
  aclOpExecutor* const executor = Phase1();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  const DeviceInts other({1, 2});
  RunInThreads([&](int thread) {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (int i = 0; i < 200; ++i) {
      if (thread == 0) {
        aclSetInputTensorAddr(executor, 0, first_.get(), other.data());
      } else if (thread == 1 && i == 150) {
        aclDestroyAclOpExecutor(executor);
      } else {
        Phase2(executor);
      }
    }
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(SumOperator::num_destroyed, 1);
  EXPECT_THAT(Out(), ElementsAre(11, 22));
}

// ---- Memory --------------------------------------------------------------------------------

class GrowthTest : public SumTest {
 protected:
  // Every kind of object made and ended, and most ways to fail.
  void MakeAndFail() {
    aclTensor* const tensor = CreateTensor({.shape = {2, 3}});
    const int64_t value = 1;
    aclDestroyIntArray(aclCreateIntArray(&value, 1));
    const std::array<const aclTensor*, 1> members = {tensor};
    aclDestroyTensorList(aclCreateTensorList(members.data(), 1));
    EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(CreateTensor({.shape = {-1}}), nullptr);
    EXPECT_EQ(Phase2(Phase1()), ACLNN_SUCCESS);
    EXPECT_EQ(Phase2(Phase1(64)), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(aclDestroyAclOpExecutor(Phase1()), ACLNN_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  }
};

TEST_F(GrowthTest, ALongRunHoldsNoMoreMemoryThanAShortOne) {
#ifdef MLMARGIN_SANITIZED
  GTEST_SKIP() << "the sanitizers keep freed memory";
#endif
  for (int i = 0; i < 1000; ++i) MakeAndFail();
  const size_t before = runtime::ResidentBytes();
  for (int i = 0; i < 100'000; ++i) MakeAndFail();
  EXPECT_LT(runtime::ResidentBytes(), before + (size_t{2} << 20));
}

}  // namespace
}  // namespace mlmargin::nnopbase
