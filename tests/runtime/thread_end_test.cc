// SPDX-License-Identifier: Apache-2.0
// What a thread leaves when it ends: its context, its work and its failures belong to others.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "runtime/stream_fixture.h"

namespace mlmargin::runtime {
namespace {

using testing::HasSubstr;

class ThreadEndTest : public DeviceSetTest {
 protected:
  template <typename Body>
  static void InThread(Body body) {
    std::thread(body).join();
  }
};

TEST_F(ThreadEndTest, ItsCurrentContextLivesOn) {
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  InThread([&] {
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  });
  ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
  std::atomic<bool> ran = false;
  EXPECT_EQ(EnqueueWork(stream, [&] { ran = true; }), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_TRUE(ran);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(ThreadEndTest, ItsSetOfADeviceStaysCounted) {
  InThread([] { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); });
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);  // Still set, once.
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(ThreadEndTest, ItsQueuedWorkRunsAndItsFailureIsReportedToWhoWaits) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  Blocker blocker;
  InThread([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(EnqueueWork(stream, [&] { blocker.Run(); }), 0);
    ASSERT_EQ(EnqueueFailure(stream, ACL_ERROR_RT_AICORE_EXCEPTION, "of a thread that ended"), 0);
  });
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_THAT(TakeErrorText(), HasSubstr("of a thread that ended"));
}

TEST_F(ThreadEndTest, ItsTextsAndLastErrorGoWithIt) {
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);  // What another test left.
  InThread([] { EXPECT_NE(aclrtFree(nullptr), ACL_SUCCESS); });
  EXPECT_EQ(TakeErrorText(), "");
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  // A new thread, perhaps in the same memory, begins with nothing.
  InThread([] {
    EXPECT_EQ(TakeErrorText(), "");
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST_F(ThreadEndTest, TenThousandThreadsLeaveNothing) {
  const auto use = [](int threads) {
    for (int i = 0; i < threads; ++i) {
      InThread([] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        for (int text = 0; text < 8; ++text) aclrtFree(nullptr);
        ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      });
    }
  };
#ifdef MLMARGIN_SANITIZED
  constexpr int kThreads = 1000;
#else
  constexpr int kThreads = 10000;
#endif
  use(kThreads / 10);
  const size_t before = ResidentBytes();
  use(kThreads);
  EXPECT_LT(ResidentBytes(), before + kGrowthNoiseBytes);
}

// A thread_local object may still call in when its thread ends.
struct CallsAtThreadEnd {
  int32_t* code = nullptr;
  ~CallsAtThreadEnd() {
    *code = aclrtSynchronizeDevice();
    aclrtFree(nullptr);
  }
};

TEST_F(ThreadEndTest, DestructorsOfThreadLocalObjectsMayCallIn) {
  int32_t code = -1;
  InThread([&] {
    static thread_local CallsAtThreadEnd calls;
    calls.code = &code;
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_NE(aclrtFree(nullptr), ACL_SUCCESS);
  });
  EXPECT_EQ(code, ACL_SUCCESS);
}

}  // namespace
}  // namespace mlmargin::runtime
