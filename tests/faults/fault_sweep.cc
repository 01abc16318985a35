// SPDX-License-Identifier: Apache-2.0
#include "faults/fault_sweep.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "support/sanitizers.h"
#include "support/threads.h"

namespace mlmargin::testing {
namespace {

constexpr unsigned kSecondsPerCase = 60;
constexpr int kMillisecondsToEnd = 30'000;
#ifdef MLMARGIN_SANITIZED
constexpr int64_t kStep = 5;  // They are slow: each fifth request.
#else
constexpr int64_t kStep = 1;
#endif
constexpr int kNothingFailed = 77;  // The flow ended before its n-th request.

int report_fd = 2;
int64_t current_case = 0;

[[noreturn]] void Die(const std::string& text) {
  DisarmFaults();
  dprintf(report_fd, "request %jd, the first failure at %s: %s\n",
          static_cast<intmax_t>(current_case), FaultSite().c_str(), text.c_str());
  _exit(1);
}

// A stream's worker ends some time after its stream, and frees what it held.
void AwaitEndOfWorkers() {
  for (int tries = 0; NumThreads() != 1; ++tries) {
    if (tries == kMillisecondsToEnd) Die("a thread does not end");
    usleep(1000);
  }
}

void CheckBlocks(const char* when, int64_t expected) {
  const int64_t live = LiveBlocks();
  if (live != expected) {
    Die("blocks live " + std::string(when) + ": " + std::to_string(live) + ", expected " +
        std::to_string(expected));
  }
}

// What one process does. `sound_blocks` has how many more blocks live after two sound turns, or
// gets it.
int RunCase(const FaultFlow& flow, FaultMode mode, int64_t nth, int64_t* sound_blocks) {
  const int64_t blocks_before = LiveBlocks();  // Of the program, which forked.
  const auto run = [&](Attempt attempt) {
    flow.run(attempt);
    DisarmFaults();
    if (flow.ends_its_threads) AwaitEndOfWorkers();
  };
  if (nth == 0) {
    run(Attempt::kSound);
    run(Attempt::kSound);
    *sound_blocks = LiveBlocks() - blocks_before;
    return 0;
  }
  bool failed_at_first = false;
  for (const char* const when : {"after a failure at first use", "after a later failure"}) {
    ArmFaults(mode, nth);
    run(mode == FaultMode::kOnce ? Attempt::kRetried : Attempt::kBroken);
    failed_at_first = failed_at_first || FaultsInjected() > 0;
    run(Attempt::kSound);
    CheckBlocks(when, blocks_before + *sound_blocks);
  }
  return failed_at_first ? 0 : kNothingFailed;
}

// The exit code of a process of its own.
int RunInChild(const FaultFlow& flow, FaultMode mode, int64_t nth, int64_t* sound_blocks) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsPerCase);
    std::set_terminate([] { Die("std::terminate"); });
    current_case = nth;
    report_fd = dup(2);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);  // The library's log.
    _exit(RunCase(flow, mode, nth, sound_blocks));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace

void FlowRun::GiveBack(const char* what, int32_t code) const {
  if (code != 0) Fail(what, "needs memory to give back", code);
}

void FlowRun::Check(const char* what, bool right) const {
  if (!broken_ && !right) Fail(what, "is wrong", 0);
}

void FlowRun::CheckFailure(const char* what, int32_t code) {
  if (FaultsInjected() == 0 || attempt_ == Attempt::kSound) Fail(what, "fails by itself", code);
  if (!shortage_.is_code(code)) Fail(what, "says nothing of a shortage", code);
  const bool message = shortage_.has_message();
  if (attempt_ == Attempt::kRetried && !message) Fail(what, "leaves no message", code);
  broken_ = attempt_ == Attempt::kBroken;
}

void FlowRun::Fail(const char* what, const char* how, int32_t code) {
  Die(std::string(what) + " " + how + "; code " + std::to_string(code));
}

void SweepFaults(const FaultFlow& flow, FaultMode mode) {
#ifdef MLMARGIN_TSAN
  GTEST_SKIP() << "the thread sanitizer brings its own allocator";
#endif
  auto* const sound_blocks = static_cast<int64_t*>(
      mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(sound_blocks), MAP_FAILED);
  ASSERT_EQ(RunInChild(flow, mode, 0, sound_blocks), 0);
  int bad_cases = 0;
  int64_t nth = 1;
  for (; bad_cases < 5; nth += kStep) {
    const int code = RunInChild(flow, mode, nth, sound_blocks);
    if (code == kNothingFailed) break;
    if (code != 0) ++bad_cases;
    EXPECT_EQ(code, 0) << "request " << nth << (code > 1000 ? ": ended by a signal" : "");
  }
  munmap(sound_blocks, sizeof(int64_t));
  ::testing::Test::RecordProperty("requests", std::to_string(nth - 1));
  EXPECT_GT(nth, 10) << "hardly anything was made to fail";
}

}  // namespace mlmargin::testing
