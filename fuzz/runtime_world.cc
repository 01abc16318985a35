// SPDX-License-Identifier: Apache-2.0
#include "runtime_world.h"

#include <algorithm>

namespace mlmargin::fuzz {
namespace {

// The common codes of docs/api.md, but for 500000 (internal error), which must not come, and
// 507000, which is a forked child's.
constexpr int32_t kCommonCodes[] = {0, 100000, 107000, 107002, 107003, 107017, 207001, 200000};

}  // namespace

void World::NoteRecorded(void* event) {
  const std::lock_guard lock(mutex_);
  recorded_.insert(event);
}

bool World::WasRecorded(void* event) {
  const std::lock_guard lock(mutex_);
  return recorded_.contains(event);
}

void* Actor::Handle(Slots& slots) {
  switch (Below(16)) {
    case 14:
      return Slot(*Of({&world.streams, &world.events, &world.contexts}));
    case 15:
      return Of<void*>({nullptr, this, reinterpret_cast<void*>(UINTPTR_MAX)});
    default:
      return Slot(slots);
  }
}

void* Actor::Device() {
  auto* const block = static_cast<std::byte*>(Slot(world.blocks).load());
  switch (Below(8)) {
    case 5:
      return block == nullptr ? nullptr : block + 64;
    case 6:
      return Of<void*>({nullptr, this, reinterpret_cast<void*>(UINTPTR_MAX)});
    case 7:
      return Of<void*>({world.pinned[0], ordinary});
    default:
      return block;
  }
}

void* Actor::Host() {
  // Ordinary memory makes a copy wait for its stream.
  return world.calm ? Of<void*>({ordinary, world.pinned[0], world.pinned[1]})
                    : Of<void*>({world.pinned[0], world.pinned[1]});
}

void RunOne(Actor& actor) {
  const std::span<const Operation> resources = ResourceOperations();
  const std::span<const Operation> tasks = TaskOperations();
  const size_t number = actor.Below(resources.size() + tasks.size());
  const Operation& operation =
      number < resources.size() ? resources[number] : tasks[number - resources.size()];
  const int32_t code = operation.run(actor);
  const auto is_in = [&](auto& codes) {
    return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
  };
  if (is_in(kCommonCodes) || is_in(operation.codes)) return;
  const char* const text = aclGetRecentErrMsg();
  Fail(std::string(operation.name) + " gives " + std::to_string(code) + ": " +
       (text == nullptr ? "" : text));
}

}  // namespace mlmargin::fuzz
