// SPDX-License-Identifier: Apache-2.0
// What the threads of the runtime's fuzzer share, and one of them.
#ifndef MLMARGIN_FUZZ_RUNTIME_WORLD_H_
#define MLMARGIN_FUZZ_RUNTIME_WORLD_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "fuzz_support.h"

namespace mlmargin::fuzz {

// Handles or addresses by number. A slot keeps what was destroyed, so that it is used again.
using Slots = std::array<std::atomic<void*>, 4>;

struct World {
  // Every wait ends by itself: no stream waits for an event that nobody has recorded, and a thread
  // of its own serves the callbacks. Only then does a call wait without time-out.
  bool calm = false;
  bool resets = false;  // Devices are reset, the runtime is finalised.
  uint64_t report_thread = 0;
  Slots streams = {}, events = {}, contexts = {}, blocks = {};
  // Freed at the end only: a copy reads and writes them without asking whether they live.
  std::array<void*, 2> pinned = {};

  void NoteRecorded(void* event);
  bool WasRecorded(void* event);

 private:
  std::mutex mutex_;
  std::unordered_set<void*> recorded_;
};

constexpr size_t kBlockBytes = 4096;

// One thread's view: its share of the input, and memory of its own.
class Actor {
 public:
  Actor(World& shared, std::vector<uint8_t> input, std::byte* ordinary_memory)
      : world(shared),
        ordinary(ordinary_memory),
        input_(std::move(input)),
        provider_(input_.data(), input_.size()) {}

  World& world;
  std::byte* const ordinary;  // kBlockBytes, on a page of its own.

  bool IsDone() { return provider_.remaining_bytes() == 0; }
  size_t Below(size_t bound) { return provider_.ConsumeIntegralInRange<size_t>(0, bound - 1); }
  template <typename T>
  T Of(std::initializer_list<T> choices) {
    return choices.begin()[Below(choices.size())];
  }

  std::atomic<void*>& Slot(Slots& slots) { return slots[Below(slots.size())]; }
  // A handle: live or not, of this kind or another, null.
  void* Handle(Slots& slots);
  // For a call that writes a handle: it is kept, if the call succeeded.
  template <typename Call>
  int32_t Keep(Slots& slots, Call call) {
    void* made = nullptr;
    const int32_t code = call(&made);
    if (code == 0) Slot(slots) = made;
    return code;
  }
  void* Device();  // Device memory, live or not, or another address.
  void* Host();    // Host memory that lives until the end.
  int32_t Timeout() { return world.calm ? Of({0, 1, 2, -1, -2}) : Of({0, 1, 2, 0, -2}); }
  // A number outside of the enum now and then.
  template <typename Enum>
  Enum Number(int last) {
    return static_cast<Enum>(static_cast<int>(Below(static_cast<size_t>(last) + 3)) - 1);
  }

 private:
  std::vector<uint8_t> input_;
  Provider provider_;
};

// A function of the API, how it is called, and the codes that docs/api.md gives it besides those
// that any function may give.
struct Operation {
  const char* name;
  int32_t (*run)(Actor&);
  std::initializer_list<int32_t> codes;
};
// Not made in this world, which would hang or lose its memory.
constexpr int32_t kNotCalled = 0;

std::span<const Operation> ResourceOperations();  // Devices, contexts, memory, errors.
std::span<const Operation> TaskOperations();      // Streams, events, copies, callbacks.

// Runs one of all operations and fails unless its code is among its own or the common ones.
void RunOne(Actor& actor);

}  // namespace mlmargin::fuzz

#endif  // MLMARGIN_FUZZ_RUNTIME_WORLD_H_
