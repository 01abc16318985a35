// SPDX-License-Identifier: Apache-2.0
#include "runtime/race_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <list>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "mlmargin/device.h"
#include "runtime/never_destroyed.h"

namespace mlmargin::runtime {
namespace {

// Of a stream that nobody waits for, the oldest tasks are forgotten.
constexpr size_t kMaxTasksPerStream = 4096;

struct NotedTask {
  uint64_t sequence;
  TaskNote note;
};

struct Order {
  uint64_t sequence;
  int32_t other_id;
  uint64_t other_sequence;
};

// The work of a stream that nobody has waited for.
struct StreamWork {
  uint64_t done = 0;
  std::deque<NotedTask> tasks;
  std::list<Order> orders;
};

struct RaceTable {
  std::mutex mutex;
  std::unordered_map<int32_t, StreamWork> streams;
  std::set<std::pair<const void*, const void*>> reported;
  uint64_t num_races = 0;
};

RaceTable& Races() {
  static NeverDestroyed<RaceTable> table;
  return table.get();
}

// Moves the orders that are reached with it to the end of `reached`. Needs no memory.
void NoteDoneIn(RaceTable& table, int32_t stream_id, uint64_t sequence, std::list<Order>* reached) {
  const auto found = table.streams.find(stream_id);
  if (found == table.streams.end()) return;
  StreamWork& work = found->second;
  work.done = std::max(work.done, sequence);
  while (!work.tasks.empty() && work.tasks.front().sequence <= work.done) work.tasks.pop_front();
  while (!work.orders.empty() && work.orders.front().sequence <= work.done) {
    reached->splice(reached->end(), work.orders, work.orders.begin());
  }
}

// Follows the orders, too; each is taken out once, so a circle of them ends.
void NoteDoneLocked(RaceTable& table, int32_t stream_id, uint64_t sequence) {
  std::list<Order> reached;
  NoteDoneIn(table, stream_id, sequence, &reached);
  for (; !reached.empty(); reached.pop_front()) {
    NoteDoneIn(table, reached.front().other_id, reached.front().other_sequence, &reached);
  }
}

bool Overlap(const Access& a, const Access& b) {
  const auto first = reinterpret_cast<uintptr_t>(a.address);
  const auto second = reinterpret_cast<uintptr_t>(b.address);
  return first < second + b.bytes && second < first + a.bytes;
}

const char* Verb(const Access& access) { return access.writes ? "writes" : "reads"; }

// An access of the host that meets a task, with copies of what the table says of that task.
struct Conflict {
  const Access* access;
  int32_t stream_id;
  const char* function;
  Access other;
  CallSite site;
};

// The first conflict of each access with each stream. The lock is held, so places are only copied
// here: to look them up takes the loader's lock, whose owner may wait for this one in dlopen.
std::vector<Conflict> FindConflicts(const RaceTable& table, std::span<const Access> accesses) {
  std::vector<Conflict> conflicts;
  const auto find = [&](int32_t stream_id, const StreamWork& work, const Access& access) {
    for (const NotedTask& task : work.tasks) {
      for (const Access& other : task.note.accesses) {
        if ((!access.writes && !other.writes) || !Overlap(access, other)) continue;
        conflicts.push_back({&access, stream_id, task.note.function, other, task.note.site});
        return;
      }
    }
  };
  for (const auto& [stream_id, work] : table.streams) {
    for (const Access& access : accesses) find(stream_id, work, access);
  }
  return conflicts;
}

bool IsFirstReport(const void* host_place, const void* task_place) {
  RaceTable& table = Races();
  const std::lock_guard lock(table.mutex);
  return table.reported.emplace(host_place, task_place).second;
}

std::string RaceText(const char* function, const CallSite& site, const Conflict& conflict) {
  const Access& access = *conflict.access;
  const Access& other = conflict.other;
  return fmt::format(
      "race: {} at {} {} the {} bytes of {} at {}, which {} ({}, {} bytes at {}) {} as work of "
      "stream {}, enqueued at {}; nothing has waited for that work. Call aclrtSynchronizeStream "
      "before.",
      function, site.Describe(), Verb(access), access.bytes, access.argument, access.address,
      conflict.function, other.argument, other.bytes, other.address, Verb(other),
      conflict.stream_id, conflict.site.Describe());
}

}  // namespace

TaskNote::TaskNote(const Task& task) : function(task.api_function()) {
  for (Access access : task.accesses()) {
    access.block = nullptr;
    accesses.push_back(std::move(access));
  }
  if (!accesses.empty()) site = CallSite::Here();
}

void NoteTask(int32_t stream_id, uint64_t sequence, TaskNote note) {
  if (note.accesses.empty()) return;
  RaceTable& table = Races();
  const std::lock_guard lock(table.mutex);
  StreamWork& work = table.streams[stream_id];
  if (sequence <= work.done) return;
  work.tasks.push_back({sequence, std::move(note)});
  if (work.tasks.size() > kMaxTasksPerStream) work.tasks.pop_front();
}

void NoteOrder(int32_t stream_id, uint64_t sequence, int32_t other_id, uint64_t other_sequence) {
  RaceTable& table = Races();
  const std::lock_guard lock(table.mutex);
  StreamWork& work = table.streams[stream_id];
  if (sequence <= work.done) return NoteDoneLocked(table, other_id, other_sequence);
  work.orders.push_back({sequence, other_id, other_sequence});
  if (work.orders.size() > kMaxTasksPerStream) work.orders.pop_front();
}

void NoteDone(int32_t stream_id, uint64_t sequence) {
  const std::lock_guard lock(Races().mutex);
  NoteDoneLocked(Races(), stream_id, sequence);
}

void ForgetStream(int32_t stream_id) {
  const std::lock_guard lock(Races().mutex);
  Races().streams.erase(stream_id);
}

void CheckHostAccess(const char* function, std::span<const Access> accesses) {
  const CallSite site = CallSite::Here();
  std::vector<Conflict> conflicts;
  {
    RaceTable& table = Races();
    const std::lock_guard lock(table.mutex);
    conflicts = FindConflicts(table, accesses);
    table.num_races += conflicts.size();
  }
  for (const Conflict& conflict : conflicts) {
    if (IsFirstReport(site.address(), conflict.site.address())) {
      Log(ACL_ERROR, "RUNTIME", RaceText(function, site, conflict));
    }
  }
}

}  // namespace mlmargin::runtime

uint64_t mlmargin::NumRaces() {
  const std::lock_guard lock(mlmargin::runtime::Races().mutex);
  return mlmargin::runtime::Races().num_races;
}
