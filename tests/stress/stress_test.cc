// SPDX-License-Identifier: Apache-2.0
// Sixteen threads at once: every result has the right bits, every handle comes back, every wait
// ends. tests/runtime/stream_stress_test.cc has the same for the runtime alone.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "stress/work.h"
#include "support/sanitizers.h"

namespace mlmargin::testing {
namespace {

constexpr int kThreads = 16;
#ifdef MLMARGIN_SANITIZED
constexpr int kTurns = 15;
#else
constexpr int kTurns = 200;
#endif
constexpr std::chrono::minutes kLimit{4};  // What still runs by then hangs.

[[maybe_unused]] const int quiet_log = setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", /*overwrite=*/0);

// Runs `body(thread index)` on all threads, and ends the process if one does not come back.
void OnAllThreads(const std::function<void(int)>& body) {
  std::mutex mutex;
  std::condition_variable ended;
  int running = kThreads;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      body(t);
      const std::lock_guard lock(mutex);
      --running;
      ended.notify_one();
    });
  }
  {
    std::unique_lock lock(mutex);
    if (!ended.wait_for(lock, kLimit, [&] { return running == 0; })) {
      std::fprintf(stderr, "%d of %d threads hang\n", running, kThreads);
      std::abort();
    }
  }
  for (std::thread& thread : threads) thread.join();
}

// What must be as before when all is given back.
struct Counts {
  size_t free_bytes = 0;
  uint32_t streams = 0;
  uint32_t events = 0;
  bool operator==(const Counts&) const = default;
};

Counts CountsNow() {
  Counts counts;
  size_t total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_DDR_MEM, &counts.free_bytes, &total), 0);
  EXPECT_EQ(aclrtGetStreamAvailableNum(&counts.streams), 0);
  EXPECT_EQ(aclrtGetEventAvailNum(&counts.events), 0);
  return counts;
}

class StressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    aclInit(nullptr);
    ASSERT_EQ(aclrtSetDevice(0), 0);
    for (const WorkKind& kind : SmallWork(/*seed=*/1)) {
      Work work(kind);
      ASSERT_EQ(work.Launch(nullptr, false), 0);
      ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
      kinds_.push_back(kind);
      results_.push_back(work.TakeResult());
      ASSERT_TRUE(work.IsExact(results_.back())) << kind.Name();
    }
  }
  void TearDown() override {
    aclFinalize();
    while (aclGetRecentErrMsg() != nullptr) {
    }
  }

  size_t KindOf(int thread, int turn) const {
    return static_cast<size_t>(5 * thread + turn) % kinds_.size();
  }

  std::vector<WorkKind> kinds_;
  std::vector<std::vector<uint32_t>> results_;
};

TEST_F(StressTest, ContextsStreamsEventsAndExecutorsOfEachThreadComeAndGo) {
  const Counts before = CountsNow();
  OnAllThreads([&](int thread) {
    for (int turn = 0; turn < kTurns; ++turn) {
      aclrtContext context = nullptr;
      std::array<aclrtStream, 2> streams{};
      aclrtEvent event = nullptr;
      ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
      for (aclrtStream& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), 0);
      ASSERT_EQ(aclrtCreateEvent(&event), 0);
      {
        const size_t kind = KindOf(thread, turn);
        Work work(kinds_[kind]);
        for (const bool repeated : {true, true, false}) {
          ASSERT_EQ(work.Launch(streams[0], repeated), 0);
          ASSERT_EQ(aclrtRecordEvent(event, streams[0]), 0);
          ASSERT_EQ(aclrtStreamWaitEvent(streams[1], event), 0);
          ASSERT_EQ(aclrtSynchronizeStream(streams[1]), 0);
          ASSERT_EQ(work.TakeResult(), results_[kind]) << kinds_[kind].Name();
        }
      }
      ASSERT_EQ(aclrtDestroyEvent(event), 0);
      ASSERT_EQ(aclrtDestroyStream(streams[0]), 0);  // The other goes with its context.
      ASSERT_EQ(aclrtDestroyContext(context), 0);
    }
  });
  EXPECT_EQ(CountsNow(), before);
}

TEST_F(StressTest, ThreadsShareStreams) {
  std::array<aclrtStream, 3> streams{};
  for (aclrtStream& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), 0);
  const Counts before = CountsNow();
  OnAllThreads([&](int thread) {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    aclrtEvent event = nullptr;
    ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), 0);
    for (int turn = 0; turn < kTurns; ++turn) {
      const size_t kind = KindOf(thread, turn);
      const aclrtStream stream = streams[static_cast<size_t>(thread + turn) % streams.size()];
      Work work(kinds_[kind]);
      for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(work.Launch(stream, i > 0), 0);
        ASSERT_EQ(aclrtRecordEvent(event, stream), 0);
        const bool by_event = (thread + i) % 2 == 0;
        ASSERT_EQ(by_event ? aclrtSynchronizeEvent(event)
                           : aclrtSynchronizeStreamWithTimeout(stream, 200'000),
                  0);
        ASSERT_EQ(work.TakeResult(), results_[kind]) << kinds_[kind].Name();
      }
    }
    ASSERT_EQ(aclrtDestroyEvent(event), 0);
    ASSERT_EQ(aclrtResetDevice(0), 0);
  });
  EXPECT_EQ(CountsNow(), before);
}

// What all threads use and end.
struct SharedHandles {
  std::array<std::atomic<aclrtStream>, 24> streams{};
  std::array<std::atomic<aclrtEvent>, 24> events{};
  std::array<std::atomic<aclrtContext>, 6> contexts{};
};

// One call of many, on what other threads may have just ended. Any code may come back.
class AnyCall {
 public:
  AnyCall(SharedHandles& handles, unsigned seed) : handles_(handles), random_(seed) {}

  void Make() {
    std::atomic<aclrtStream>& stream = handles_.streams[random_() % handles_.streams.size()];
    std::atomic<aclrtEvent>& event = handles_.events[random_() % handles_.events.size()];
    std::atomic<aclrtContext>& context = handles_.contexts[random_() % handles_.contexts.size()];
    void* made = nullptr;
    switch (random_() % 25) {
      case 0:
        if (aclrtCreateStream(&made) == 0) stream = made;
        break;
      case 1:
        aclrtDestroyStream(stream);
        break;
      case 2:
        aclrtDestroyStreamForce(stream);
        break;
      case 3:
        if (aclrtCreateEventExWithFlag(&made, ACL_EVENT_SYNC) == 0) event = made;
        break;
      case 4:
        aclrtDestroyEvent(event);
        break;
      case 5:
        if (aclrtCreateContext(&made, 0) == 0) context = made;
        break;
      case 6:
        aclrtDestroyContext(context);
        break;
      case 7:
        aclrtSetDevice(0);
        break;
      case 24:
        aclrtSetCurrentContext(context);
        break;
      case 8:
        if (random_() % 8 == 0) aclrtResetDevice(0);
        break;
      case 9:
        if (random_() % 8 == 0) aclrtResetDeviceForce(0);
        break;
      case 10:
        if (random_() % 8 == 0) aclFinalize();
        break;
      case 11:
        aclInit(nullptr);
        break;
      case 12:
        aclrtStreamAbort(stream);
        break;
      case 13:
        aclrtSynchronizeDevice();
        break;
      case 14:
        aclrtSynchronizeEvent(event);
        break;
      case 15:
      case 16:
        aclrtSynchronizeStream(stream);
        break;
      case 17:
        // An event of this kind that was never recorded is not waited for.
        aclrtStreamWaitEvent(stream, event);
        break;
      case 18:
        aclrtLaunchHostFunc(
            stream, [](void*) { std::this_thread::yield(); }, nullptr);
        break;
      case 19:
        aclrtRecordEvent(event, stream);
        break;
      default:
        FillMemory(stream);
    }
  }

 private:
  void FillMemory(aclrtStream stream) {
    void* memory = nullptr;
    if (aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_NORMAL_ONLY) != 0) return;
    aclrtMemsetAsync(memory, 4096, 7, 4096, stream);
    std::array<char, 64> host;
    aclrtMemcpyAsync(host.data(), host.size(), memory, host.size(), ACL_MEMCPY_DEVICE_TO_HOST,
                     stream);
    aclrtFree(memory);
  }

  SharedHandles& handles_;
  std::mt19937 random_;
};

TEST_F(StressTest, EverythingEndsWhileOthersDestroyResetAndFinalize) {
  SharedHandles handles;
  OnAllThreads([&](int thread) {
    AnyCall any(handles, static_cast<unsigned>(thread));
    for (int i = 0; i < 100 * kTurns; ++i) any.Make();
    aclGetRecentErrMsg();
  });
  aclFinalize();
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  const Counts fresh = CountsNow();
  EXPECT_EQ(fresh.streams, 1983U);  // All but the default stream.
  EXPECT_EQ(fresh.events, 65536U);
  Work work(kinds_[0]);
  ASSERT_EQ(work.Launch(nullptr, false), 0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(work.TakeResult(), results_[0]);
}

}  // namespace
}  // namespace mlmargin::testing
