// SPDX-License-Identifier: Apache-2.0
#include "kernel/parallel_for.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "support/sanitizers.h"

namespace mlmargin::kernel {
namespace {

TEST(ParallelForTest, CoversEachIndexOnceInRangesOfAtMostTheGrain) {
  for (const int64_t count : {0, 1, 2, 7, 64, 1000}) {
    for (const int64_t grain : {1, 3, 64, 5000}) {
      for (const int threads : {1, 2, 16}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
        ParallelFor(count, grain, threads, [&](int64_t begin, int64_t end) {
          EXPECT_LE(end - begin, grain);
          for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
        });
        for (const auto& visit : visits) EXPECT_EQ(visit, 1);
      }
    }
  }
}

TEST(ParallelForTest, OneThreadOrOneRangeStaysOnTheCallingThread) {
  const auto caller = std::this_thread::get_id();
  const auto here = [&](int64_t, int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); };
  ParallelFor(100, 1, 1, here);
  ParallelFor(100, 100, 8, here);
}

TEST(ParallelForTest, ALongLoopUsesEveryCpuAndNoMore) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::atomic<int> arrived = 0;
  const int cpus = AvailableCpus();
  // Each range waits for all CPUs to have come, so none can do another's share.
  ParallelFor(cpus, 1, 64, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < cpus) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(ids.size(), static_cast<size_t>(cpus));
}

TEST(ParallelForTest, ManyCallersAtOnceAllFinish) {
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        ParallelFor(100, 1, 2 + k % 3, [&](int64_t begin, int64_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 8 * 50 * 100);
}

TEST(ParallelForDeathTest, ExitWhileAnotherThreadComputesIsClean) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::atomic<bool> started = false;
        std::thread([&] {
          for (;;) {
            ParallelFor(1000, 1, 2, [&](int64_t, int64_t) { started = true; });
          }
        }).detach();
        while (!started) std::this_thread::yield();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(ParallelForDeathTest, AChildForkedWhileOthersComputeWorksAloneAndExits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // What the threads that the child lacks had on their stacks would count as leaked.
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  EXPECT_EXIT(
      {
        std::atomic<bool> started = false;
        std::thread([&] {
          for (;;) {
            ParallelFor(1000, 1, 2, [&](int64_t, int64_t) { started = true; });
          }
        }).detach();
        while (!started) std::this_thread::yield();
        const pid_t child = fork();
        if (child == 0) {
          alarm(60);
          int64_t sum = 0;  // No race: in a child all runs on the calling thread.
          ParallelFor(1000, 1, 2, [&](int64_t begin, int64_t end) { sum += end - begin; });
          std::exit(sum == 1000 ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

#ifdef MLMARGIN_TSAN
// The annotations in ParallelFor must not blind the sanitizer: a race between ranges is reported.
TEST(ParallelForDeathTest, APlantedRaceIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        int64_t racy = 0;
        std::atomic<int> arrived = 0;
        std::atomic<bool> written = false;
        // One after the other, since the sanitizer may miss two writes at the same instant;
        // relaxed, so that nothing orders them.
        ParallelFor(2, 1, 2, [&](int64_t, int64_t) {
          const bool first = arrived++ == 0;
          while (arrived < 2) std::this_thread::yield();
          if (!first) {
            while (!written.load(std::memory_order_relaxed)) std::this_thread::yield();
          }
          racy = racy + 1;
          if (first) written.store(true, std::memory_order_relaxed);
        });
        std::exit(racy == 0 ? 1 : 0);
      },
      ::testing::ExitedWithCode(66), "data race");
}
#endif

}  // namespace
}  // namespace mlmargin::kernel
