// SPDX-License-Identifier: Apache-2.0
// The process ends with work queued and nothing cleaned up: no crash, no hang.
#include <gmock/gmock.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "runtime/stream_fixture.h"
#include "support/sanitizers.h"

// The thread sanitizer brings its own operator new.
#ifndef MLMARGIN_TSAN

namespace {

// Counts down with the calling thread's allocations; the one that makes it 0 fails.
thread_local int allocations_until_failure = 0;

}  // namespace

// Not inlined, or GCC sees malloc and free and complains of a mismatch with new and delete.
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (allocations_until_failure > 0 && --allocations_until_failure == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

// Clears the memory: who uses an object that is gone shall not find it as it was.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) explicit_bzero(memory, malloc_usable_size(memory));
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

#endif  // MLMARGIN_TSAN

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

#ifndef MLMARGIN_TSAN
// Each of the first allocations of a submission fails once, that of the worker thread among them.
// The streams are gone when the process ends, and nothing may remember them.
TEST_F(ProcessExitDeathTest, StreamsWithoutMemoryForTheirWorkersAreForgotten) {
  EXPECT_EXIT(
      {
        aclrtDestroyStream(NewStream());
        int refused = 0;
        std::vector<aclrtStream> streams(30);
        for (aclrtStream& stream : streams) aclrtCreateStream(&stream);
        int i = 0;
        for (aclrtStream stream : streams) {
          ++i;
          allocations_until_failure = i;
          const aclError code = aclrtLaunchHostFunc(
              stream, [](void*) {}, nullptr);
          allocations_until_failure = 0;
          if (code != ACL_SUCCESS) ++refused;
        }
        for (aclrtStream stream : streams) aclrtDestroyStream(stream);
        std::fprintf(stderr, "refused: %d\n", refused);
        std::exit(refused >= 2 ? 3 : 4);
      },
      ExitedWithCode(3), "");
}
#endif  // MLMARGIN_TSAN

TEST_F(ProcessExitDeathTest, AnyThreadMayExit) {
  EXPECT_EXIT(
      {
        const aclrtStream stream = NewStream();
        for (int i = 0; i < 1000; ++i) EnqueueWork(stream, [] {});
        std::thread([] { std::exit(3); }).detach();
        while (true) aclrtSynchronizeStream(stream);
      },
      ExitedWithCode(3), "");
}

// Neither runs handlers of exit: nothing is waited for, nothing is cleaned up.
TEST_F(ProcessExitDeathTest, QuickExitAndUnderscoreExitWaitForNothing) {
  for (const bool quick : {true, false}) {
    EXPECT_EXIT(
        {
          const aclrtStream stream = NewStream();
          EnqueueWork(stream, [] { Never().Run(); });
          EnqueueWork(stream, [] {});
          Never().entered.Pass();
          if (quick) std::quick_exit(3);
          _exit(3);
        },
        ExitedWithCode(3), "");
  }
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
