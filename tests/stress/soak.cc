// SPDX-License-Identifier: Apache-2.0
// mlmargin_soak [seconds]: mixed work on several threads and streams for so long (default 600),
// every result compared. Prints a line of figures a minute; fails when a result is wrong, or when
// memory or handles are not given back.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "mlmargin/settings.h"
#include "stress/work.h"
#include "support/threads.h"

namespace mlmargin::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kThreads = 6;
// What the allocators of the C library and oneTBB may keep between the first turns and the last.
constexpr size_t kResidentNoiseBytes = size_t{48} << 20;

struct Reference {
  WorkKind kind;
  std::vector<uint32_t> result;
};

struct Figures {
  size_t resident_bytes = 0;
  size_t device_bytes = 0;
  uint32_t streams = 0;
  uint32_t events = 0;
  int threads = 0;
};

Figures FiguresNow() {
  Figures figures;
  size_t total_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> figures.resident_bytes;
  figures.resident_bytes *= 4096;
  size_t free_bytes = 0;
  size_t total = 0;
  aclrtGetMemInfo(ACL_DDR_MEM, &free_bytes, &total);
  figures.device_bytes = total - free_bytes;
  aclrtGetStreamAvailableNum(&figures.streams);
  aclrtGetEventAvailNum(&figures.events);
  figures.threads = NumThreads();
  return figures;
}

std::atomic<uint64_t> runs = 0;
std::atomic<uint64_t> wrong = 0;

void Print(Clock::time_point start, const Figures& figures) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start).count();
  std::printf(
      "%5lld s: %9llu runs, %llu wrong; resident %.1f MiB, device %.1f MiB, %d threads, "
      "%u streams and %u events to be had\n",
      static_cast<long long>(seconds), static_cast<unsigned long long>(runs.load()),
      static_cast<unsigned long long>(wrong.load()),
      static_cast<double>(figures.resident_bytes) / (1 << 20),
      static_cast<double>(figures.device_bytes) / (1 << 20), figures.threads, figures.streams,
      figures.events);
  std::fflush(stdout);
}

bool Expect(bool right, const char* what) {
  if (!right) std::fprintf(stderr, "%s\n", what);
  return right;
}

// The bits that must come out, computed on one thread; those of small work are held against the
// exact oracle.
bool MakeReferences(std::vector<Reference>* references) {
  if (!SetNumThreads(1).ok()) return false;
  const auto add = [&](const WorkKind& kind, bool check) {
    Work work(kind);
    if (work.Launch(nullptr, false) != 0 || aclrtSynchronizeStream(nullptr) != 0) return false;
    references->push_back({kind, work.TakeResult()});
    return !check || work.IsExact(references->back().result);
  };
  for (const WorkKind& kind : SmallWork(7)) {
    if (!Expect(add(kind, true), kind.Name().c_str())) return false;
  }
  for (const WorkKind& kind : LargeWork(7)) {
    if (!Expect(add(kind, false), kind.Name().c_str())) return false;
  }
  return SetNumThreads(0).ok();
}

// One thread's work: objects of its own that come and go, waits of all kinds.
class Worker {
 public:
  Worker(const std::vector<Reference>& references, unsigned seed)
      : references_(references), random_(seed) {}

  void RunUntil(Clock::time_point end) {
    while (Clock::now() < end) {
      aclrtContext context = nullptr;
      Require(random_() % 2 == 0 ? aclrtCreateContext(&context, 0) : aclrtSetDevice(0));
      for (aclrtStream& stream : streams_) Require(aclrtCreateStream(&stream));
      Require(aclrtCreateEventWithFlag(&event_, ACL_EVENT_SYNC));
      for (int turn = 0; turn < 20 && Clock::now() < end; ++turn) RunTwo();
      Require(aclrtDestroyEvent(event_));
      for (aclrtStream stream : streams_) Require(aclrtDestroyStream(stream));
      Require(context != nullptr ? aclrtDestroyContext(context) : aclrtResetDevice(0));
    }
  }

 private:
  static void Require(int32_t code) {
    if (code == 0) return;
    const char* const message = aclGetRecentErrMsg();
    std::fprintf(stderr, "code %d: %s\n", code, message == nullptr ? "" : message);
    ++wrong;
  }

  const Reference& Pick() { return references_[random_() % references_.size()]; }

  // Work on both streams at once, each run once or twice.
  void RunTwo() {
    const std::array<const Reference*, 2> picked = {&Pick(), &Pick()};
    std::array<std::unique_ptr<Work>, 2> work;
    const bool repeated = random_() % 2 == 0;
    for (size_t i = 0; i < 2; ++i) work[i] = std::make_unique<Work>(picked[i]->kind);
    for (size_t i = 0; i < 2; ++i) Require(work[i]->Launch(streams_[i], repeated));
    if (repeated) Require(work[1]->Launch(streams_[1], true));
    Wait();
    for (size_t i = 0; i < 2; ++i) {
      ++runs;
      if (work[i]->TakeResult() == picked[i]->result) continue;
      std::fprintf(stderr, "wrong: %s\n", picked[i]->kind.Name().c_str());
      ++wrong;
    }
  }

  void Wait() {
    switch (random_() % 3) {
      case 0:
        Require(aclrtSynchronizeStream(streams_[0]));
        Require(aclrtSynchronizeStreamWithTimeout(streams_[1], 600'000));
        break;
      case 1:
        Require(aclrtRecordEvent(event_, streams_[0]));
        Require(aclrtStreamWaitEvent(streams_[1], event_));
        Require(aclrtSynchronizeStream(streams_[1]));
        Require(aclrtResetEvent(event_, streams_[1]));
        Require(aclrtSynchronizeStream(streams_[1]));
        break;
      default:
        Require(aclrtSynchronizeDevice());
    }
  }

  const std::vector<Reference>& references_;
  std::mt19937 random_;
  std::array<aclrtStream, 2> streams_{};
  aclrtEvent event_ = nullptr;
};

bool Soak(std::chrono::seconds length) {
  std::vector<Reference> references;
  if (!MakeReferences(&references)) return false;
  const Clock::time_point start = Clock::now();
  const Clock::time_point end = start + length;
  const Figures before = FiguresNow();
  Print(start, before);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&references, t, end] { Worker(references, t).RunUntil(end); });
  }
  Figures warm;
  for (auto next = start + std::min<Clock::duration>(length / 2, std::chrono::minutes(1));
       next <= end; next += std::chrono::minutes(1)) {
    std::this_thread::sleep_until(next);
    const Figures now = FiguresNow();
    if (warm.resident_bytes == 0) warm = now;
    Print(start, now);
  }
  for (std::thread& thread : threads) thread.join();
  // The workers of the last streams end after them.
  Figures after = FiguresNow();
  for (int i = 0; i < 1000 && after.streams != before.streams; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    after = FiguresNow();
  }
  Print(start, after);
  bool good = Expect(wrong == 0, "results were wrong");
  good &= Expect(after.device_bytes == before.device_bytes, "device memory was not given back");
  good &= Expect(after.streams == before.streams, "streams were not given back");
  good &= Expect(after.events == before.events, "events were not given back");
  good &=
      Expect(after.resident_bytes < warm.resident_bytes + kResidentNoiseBytes, "the process grows");
  return good;
}

}  // namespace
}  // namespace mlmargin::testing

int main(int argc, char** argv) {
  const std::chrono::seconds length(argc > 1 ? std::atoll(argv[1]) : 600);
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return EXIT_FAILURE;
  const bool passed = mlmargin::testing::Soak(length);
  return aclFinalize() == 0 && passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
