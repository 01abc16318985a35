// SPDX-License-Identifier: Apache-2.0
// Many threads at once, many calls in a row.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "runtime/stream_fixture.h"
#include "support/sanitizers.h"

namespace mlmargin::runtime {
namespace {

#ifdef MLMARGIN_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr int kThreads = 8;

using StreamStressTest = DeviceSetTest;

// Runs `body(thread index)` on all threads at once, with device 0 set.
template <typename Body>
void OnManyThreads(Body body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&body, t] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      body(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(StreamStressTest, StreamsComeAndGoOnManyThreads) {
  std::atomic<int> ran = 0;
  constexpr int kRounds = kSanitized ? 50 : 200;
  OnManyThreads([&](int) {
    for (int round = 0; round < kRounds; ++round) {
      aclrtStream stream = nullptr;
      aclrtEvent event = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
      ASSERT_EQ(EnqueueWork(stream, [&] { ++ran; }), 0);
      ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtStreamWaitEvent(nullptr, event), ACL_SUCCESS);
      ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
      if (round % 2 == 0) {
        ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    }
  });
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(ran, kThreads * kRounds);
}

TEST_F(StreamStressTest, ManyThreadsShareStreamsAndEvents) {
  std::array<aclrtStream, 4> streams{};
  std::array<aclrtEvent, 4> events{};
  for (aclrtStream& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  for (aclrtEvent& event : events) {
    ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  }
  std::atomic<int> submitted = 0;
  std::atomic<int> ran = 0;
  constexpr int kRounds = kSanitized ? 500 : 3000;
  OnManyThreads([&](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    const auto pick = [&](auto& all) { return all[random() % all.size()]; };
    for (int round = 0; round < kRounds; ++round) {
      aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
      aclrtStreamStatus stream_status = ACL_STREAM_STATUS_RESERVED;
      switch (random() % 8) {
        case 0:
        case 1:
          ++submitted;
          ASSERT_EQ(EnqueueWork(pick(streams), [&] { ++ran; }), 0);
          break;
        case 2:
          ++submitted;
          ASSERT_EQ(aclrtLaunchHostFunc(
                        pick(streams), [](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &ran),
                    ACL_SUCCESS);
          break;
        case 3:
          ASSERT_EQ(aclrtRecordEvent(pick(events), pick(streams)), ACL_SUCCESS);
          break;
        case 4:
          ASSERT_EQ(aclrtStreamWaitEvent(pick(streams), pick(events)), ACL_SUCCESS);
          break;
        case 5:
          ASSERT_EQ(aclrtSynchronizeStream(pick(streams)), ACL_SUCCESS);
          break;
        case 6:
          ASSERT_EQ(aclrtSynchronizeEvent(pick(events)), ACL_SUCCESS);
          break;
        default:
          ASSERT_EQ(aclrtQueryEventStatus(pick(events), &status), ACL_SUCCESS);
          ASSERT_EQ(aclrtStreamQuery(pick(streams), &stream_status), ACL_SUCCESS);
      }
    }
  });
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(ran, submitted);
}

TEST_F(StreamStressTest, AbortsStopsAndForcedEndsRaceWithSubmission) {
  constexpr int kRounds = kSanitized ? 20 : 100;
  for (int round = 0; round < kRounds; ++round) {
    std::array<aclrtStream, 3> streams{};
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    for (aclrtStream& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetStreamFailureMode(streams[1], ACL_STOP_ON_FAILURE), ACL_SUCCESS);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
        // Any code may come back here; what counts is that all ends and nothing crashes.
        for (int i = 0; i < 30; ++i) {
          for (aclrtStream stream : streams) {
            EnqueueWork(stream, [] {});
            if (i % 5 == t) aclrtSynchronizeStream(stream);
          }
          if (t == 0 && i % 10 == 9) aclrtStreamAbort(streams[0]);
          if (t == 1 && i == 15) {
            EnqueueFailure(streams[1], ACL_ERROR_RT_AICORE_EXCEPTION, "planted");
          }
          if (t == 2 && i == 20) aclrtDestroyStreamForce(streams[2]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
}

TEST_F(StreamStressTest, HundredThousandSmallCallsDoNotGrowTheProcess) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep freed memory";
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  void* memory = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  const auto run = [&](int calls) {
    for (int i = 0; i < calls; ++i) {
      ASSERT_EQ(aclrtMemsetAsync(memory, 64, i, 64, stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtStreamWaitEvent(nullptr, event), ACL_SUCCESS);
      if (i % 16 == 0) {
        ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
      }
    }
  };
  run(10000);
  const size_t before = ResidentBytes();
  run(100000);
  EXPECT_LT(ResidentBytes(), before + (size_t{4} << 20));
}

TEST_F(StreamStressTest, StreamsThatComeAndGoDoNotGrowTheProcess) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep freed memory";
  const auto run = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      aclrtStream stream = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      ASSERT_EQ(EnqueueWork(stream, [] {}), 0);
      ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    }
  };
  run(1000);
  const size_t before = ResidentBytes();
  run(5000);
  EXPECT_LT(ResidentBytes(), before + (size_t{4} << 20));
}

}  // namespace
}  // namespace mlmargin::runtime
