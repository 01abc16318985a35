// SPDX-License-Identifier: Apache-2.0
// Fuzzes the runtime: two threads make calls in any order, each with its share of the input. Every
// code must be one that is documented for the call, every wait must end, and afterwards all is
// given back.
#include <array>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include "aclnn/aclnn_base.h"
#include "runtime_world.h"
#include "support/threads.h"

namespace mlmargin::fuzz {
namespace {

constexpr size_t kActors = 2;
constexpr int kMostCalls = 100;

alignas(4096) std::byte ordinary_memory[kActors][kBlockBytes];

void Require(int32_t code, const char* what) {
  if (code != 0) Fail(std::string(what) + " gives " + std::to_string(code));
}

// What a device has left, once everything has been given back, and the threads of the process. The
// look for leaks must not meet a worker: the system gives the numbers of threads again, and the
// sanitizer takes a new one for an old one of that number, whose stack it need not look at.
struct Available {
  uint32_t streams = 0, events = 0;
  size_t bytes = 0;
  int threads = 0;

  static Available Now() {
    Available now;
    size_t total = 0;
    Require(aclInit(nullptr), "aclInit");
    Require(aclrtSetDevice(0), "aclrtSetDevice");
    Require(aclrtGetStreamAvailableNum(&now.streams), "aclrtGetStreamAvailableNum");
    Require(aclrtGetEventAvailNum(&now.events), "aclrtGetEventAvailNum");
    Require(aclrtGetMemInfo(ACL_DDR_MEM, &now.bytes, &total), "aclrtGetMemInfo");
    Require(aclFinalize(), "aclFinalize");
    now.threads = testing::NumThreads();
    return now;
  }
  bool operator==(const Available&) const = default;
};

// Serves callbacks until the thread is let go by all streams; they must let go in the end.
void ServeReports(const std::atomic<bool>& is_over) {
  for (int turns_after = 0; turns_after < 1000;) {
    const bool over = is_over;
    const int32_t code = aclrtProcessReport(2);
    if (code == 107012 && over) return;
    if (code == 107012) std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (code != 0 && code != 107012 && code != 507012) {
      Fail("aclrtProcessReport gives " + std::to_string(code));
    }
    turns_after += over;
  }
  Fail("a report thread is not let go");
}

class Game {
 public:
  explicit Game(Provider& provider) {
    world_.calm = !provider.ConsumeBool();
    world_.resets = provider.ConsumeBool();
    for (size_t i = 0; i < kActors; ++i) {
      actors_[i].emplace(world_,
                         provider.ConsumeBytes<uint8_t>(provider.remaining_bytes() / (kActors - i)),
                         ordinary_memory[i]);
    }
  }

  void Play() {
    Require(aclInit(nullptr), "aclInit");
    Require(aclrtSetDevice(0), "aclrtSetDevice");
    for (void*& pinned : world_.pinned) {
      Require(aclrtMallocHost(&pinned, kBlockBytes), "aclrtMallocHost");
    }
    MakeFirst();
    {
      std::jthread reporter([&] { ServeReports(is_over_); });
      world_.report_thread = static_cast<uint64_t>(reporter.native_handle());
      std::array<std::jthread, kActors> threads;
      for (size_t i = 0; i < kActors; ++i) {
        threads[i] = std::jthread([&, i] { Act(*actors_[i]); });
      }
      all_called_.arrive_and_wait();
      GiveBack();
      is_over_ = true;
    }
    for (void* const pinned : world_.pinned) Require(aclrtFreeHost(pinned), "aclrtFreeHost");
  }

 private:
  // Some of each, so that calls have something to work on from the beginning.
  void MakeFirst() {
    const auto make = [](Slots& slots, size_t number, auto call) {
      void* made = nullptr;
      Require(call(&made), "a first one");
      slots[number] = made;
    };
    make(world_.streams, 0, aclrtCreateStream);
    make(world_.streams, 1, aclrtCreateStream);
    make(world_.events, 0, aclrtCreateEvent);
    make(world_.events, 1, [](void** made) {
      return aclrtCreateEventWithFlag(made, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    });
    make(world_.events, 2, [](void** made) {
      return aclrtCreateEventExWithFlag(made, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    });
    for (const size_t number : {size_t{0}, size_t{1}}) {
      make(world_.blocks, number,
           [](void** made) { return aclrtMalloc(made, kBlockBytes, ACL_MEM_MALLOC_NORMAL_ONLY); });
    }
  }

  void Act(Actor& actor) {
    aclrtSetDevice(0);  // The other may have finalised already.
    for (int left = kMostCalls; left > 0 && !actor.IsDone(); --left) RunOne(actor);
    all_called_.arrive_and_wait();
    ServeReports(is_over_);
  }

  // From whatever state, as a program would at its end.
  static void GiveBack() {
    aclrtResetDeviceForce(0);
    aclnnFinalize();
    aclFinalize();
    if (aclFinalize() != 100037) Fail("aclFinalize twice");
    if (aclrtGetDevice(nullptr) != 100000) Fail("aclrtGetDevice of null");
    aclGetRecentErrMsg();
  }

  World world_;
  std::array<std::optional<Actor>, kActors> actors_;
  std::barrier<> all_called_{kActors + 1};
  std::atomic<bool> is_over_ = false;
};

// A task that was running when its stream was destroyed by force holds its memory a little longer.
void ExpectAllGivenBack(const Available& before) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  Available now = Available::Now();
  while (now != before && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    now = Available::Now();
  }
  if (now == before) return;
  Fail("not given back: " + std::to_string(before.streams - now.streams) + " streams, " +
       std::to_string(before.events - now.events) + " events, " +
       std::to_string(before.bytes - now.bytes) + " bytes, " +
       std::to_string(now.threads - before.threads) + " threads");
}

Available SetUp() {
  setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", /*overwrite=*/1);
  return Available::Now();
}

}  // namespace
}  // namespace mlmargin::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mlmargin::fuzz;
  static const Available before = SetUp();
  Provider provider(data, size);
  Game(provider).Play();
  ExpectAllGivenBack(before);
  return 0;
}
