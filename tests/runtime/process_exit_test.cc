// SPDX-License-Identifier: Apache-2.0
// The process ends with work queued and nothing cleaned up: no crash, no hang.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "runtime/stream_fixture.h"

namespace mlmargin::runtime {
namespace {

using testing::ExitedWithCode;

// Each statement runs in a process of its own, started by fork and exec.
class ProcessExitDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

aclrtStream NewStream() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  return stream;
}

// Never passed: work that would never end.
Blocker& Never() {
  static Blocker& never = *new Blocker;
  return never;
}

TEST_F(ProcessExitDeathTest, QueuedDeviceWorkIsDropped) {
  EXPECT_EXIT(
      {
        const aclrtStream stream = NewStream();
        for (int i = 0; i < 10000; ++i) {
          EnqueueWork(stream, [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
        }
        std::exit(3);
      },
      ExitedWithCode(3), "");
}

TEST_F(ProcessExitDeathTest, RunningDeviceTaskEndsFirst) {
  EXPECT_EXIT(
      {
        const aclrtStream stream = NewStream();
        Door running;
        EnqueueWork(stream, [&] {
          running.Open();
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          std::fputs("the task ended\n", stderr);
        });
        running.Pass();
        std::exit(3);
      },
      ExitedWithCode(3), "the task ended");
}

TEST_F(ProcessExitDeathTest, BlockedHostFunctionHoldsNothingUp) {
  EXPECT_EXIT(
      {
        const aclrtStream stream = NewStream();
        aclrtLaunchHostFunc(stream, Blocker::HostFunction, &Never());
        EnqueueWork(stream, [] {});
        Never().entered.Pass();
        std::exit(3);
      },
      ExitedWithCode(3), "");
}

TEST_F(ProcessExitDeathTest, HostFunctionMayExit) {
  EXPECT_EXIT(
      {
        const aclrtStream stream = NewStream();
        aclrtLaunchHostFunc(
            stream, [](void*) { std::exit(3); }, nullptr);
        aclrtSynchronizeStream(stream);
        std::this_thread::sleep_for(std::chrono::hours(1));
      },
      ExitedWithCode(3), "");
}

TEST_F(ProcessExitDeathTest, OtherThreadsMayBeWaiting) {
  EXPECT_EXIT(
      {
        const aclrtStream stream = NewStream();
        aclrtEvent event = nullptr;
        aclrtCreateEvent(&event);
        aclrtStreamWaitEvent(stream, event);
        Door waiting;
        std::thread([&] {
          aclrtSetDevice(0);
          waiting.Open();
          aclrtSynchronizeStream(stream);
        }).detach();
        waiting.Pass();
        std::exit(3);
      },
      ExitedWithCode(3), "");
}

TEST_F(ProcessExitDeathTest, WaitInAStaticDestructorReturns) {
  EXPECT_EXIT(
      {
        static aclrtStream stream = nullptr;
        std::atexit([] {
          const bool ended = aclrtSynchronizeStream(stream) == ACL_ERROR_RT_STREAM_ABORT &&
                             EnqueueWork(stream, [] {}) == ACL_ERROR_RT_STREAM_ABORT;
          aclFinalize();
          if (ended) std::fputs("told so\n", stderr);
        });
        stream = NewStream();
        aclrtLaunchHostFunc(stream, Blocker::HostFunction, &Never());
        EnqueueWork(stream, [] {});
        std::exit(3);
      },
      ExitedWithCode(3), "told so");
}

TEST_F(ProcessExitDeathTest, ManyBusyStreamsEnd) {
  EXPECT_EXIT(
      {
        for (int i = 0; i < 20; ++i) {
          const aclrtStream stream = NewStream();
          for (int j = 0; j < 1000; ++j) EnqueueWork(stream, [] {});
        }
        std::exit(3);
      },
      ExitedWithCode(3), "");
}

}  // namespace
}  // namespace mlmargin::runtime
