// SPDX-License-Identifier: Apache-2.0
#include "runtime/race_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
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
// So are the oldest orders and streams that are gone, of more; what only they tell of may then be
// called a race.
constexpr size_t kMaxOrdersPerStream = 4096;
constexpr size_t kMaxGoneStreams = 1024;

struct NotedTask {
  uint64_t sequence;
  TaskNote note;
};

// The work of a stream that nobody has waited for, oldest first.
struct StreamWork {
  std::deque<NotedTask> tasks;
  Orders orders;
  bool is_gone = false;  // Then without tasks, and kept for its orders.
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
void NoteDoneIn(RaceTable& table, const WorkPoint& point, Orders* reached) {
  const auto found = table.streams.find(point.stream_id);
  if (found == table.streams.end()) return;
  StreamWork& work = found->second;
  while (!work.tasks.empty() && work.tasks.front().sequence <= point.sequence) {
    work.tasks.pop_front();
  }
  while (!work.orders.empty() && work.orders.front().sequence <= point.sequence) {
    reached->splice(reached->end(), work.orders, work.orders.begin());
  }
}

// Follows the orders, too; each is taken out once, so a circle of them ends.
void NoteDoneLocked(RaceTable& table, const WorkPoint& point) {
  Orders reached;
  NoteDoneIn(table, point, &reached);
  for (; !reached.empty(); reached.pop_front()) {
    NoteDoneIn(table, reached.front().other, &reached);
  }
}

// Whether there is a task or an order of the stream up to there.
bool HasWorkUpTo(const StreamWork& work, uint64_t sequence) {
  return (!work.tasks.empty() && work.tasks.front().sequence <= sequence) ||
         (!work.orders.empty() && work.orders.front().sequence <= sequence);
}

// Whether nothing is left to learn from the order: neither of what it waited for, nor of the tasks
// of its own stream before it, from a query of its event.
bool IsSpent(const RaceTable& table, const StreamWork& work, const Order& order) {
  if (!work.tasks.empty() && work.tasks.front().sequence < order.sequence) return false;
  const auto other = table.streams.find(order.other.stream_id);
  return other == table.streams.end() || !HasWorkUpTo(other->second, order.other.sequence);
}

// Takes out the oldest orders that lead to nothing, and the streams that are gone and have no
// other.
void EraseSpentStreams(RaceTable& table) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto& [stream_id, work] : table.streams) {
      while (!work.orders.empty() && IsSpent(table, work, work.orders.front())) {
        work.orders.pop_front();
        changed = true;
      }
    }
    std::erase_if(table.streams, [](const auto& entry) {
      return entry.second.is_gone && entry.second.orders.empty();
    });
  }
}

void LimitGoneStreams(RaceTable& table) {
  size_t num_gone = 0;
  auto oldest = table.streams.end();
  for (auto entry = table.streams.begin(); entry != table.streams.end(); ++entry) {
    if (!entry->second.is_gone) continue;
    ++num_gone;
    if (oldest == table.streams.end() || entry->first < oldest->first) oldest = entry;
  }
  if (num_gone > kMaxGoneStreams) table.streams.erase(oldest);
}

// Takes out the oldest order for the stream that the newest is for, which says more: who knows the
// newest to be over knows both. Where there is none, those that are spent, or else the oldest.
void ShortenOrders(const RaceTable& table, StreamWork& work) {
  Orders& orders = work.orders;
  Order& newest = orders.back();
  const auto oldest = std::find_if(orders.begin(), orders.end(), [&](const Order& order) {
    return order.other.stream_id == newest.other.stream_id;
  });
  if (&*oldest != &newest) {
    newest.other.sequence = std::max(newest.other.sequence, oldest->other.sequence);
    orders.erase(oldest);
    return;
  }
  orders.remove_if([&](const Order& order) { return IsSpent(table, work, order); });
  if (orders.size() > kMaxOrdersPerStream) orders.pop_front();
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
// here: to look them up reads debug information, which takes long, and takes a lock of the loader.
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
  work.tasks.push_back({sequence, std::move(note)});
  if (work.tasks.size() > kMaxTasksPerStream) work.tasks.pop_front();
}

Orders MakeRoomForOrders(int32_t stream_id, size_t count) {
  Orders room(count);
  const std::lock_guard lock(Races().mutex);
  Races().streams.try_emplace(stream_id);
  return room;
}

void NoteOrder(int32_t stream_id, const Order& order, Orders& room) noexcept {
  const std::lock_guard lock(Races().mutex);
  const auto found = Races().streams.find(stream_id);
  if (found == Races().streams.end() || room.empty()) return;
  Orders& orders = found->second.orders;
  room.front() = order;
  orders.splice(orders.end(), room, room.begin());
  if (orders.size() > kMaxOrdersPerStream) ShortenOrders(Races(), found->second);
}

void NoteDone(int32_t stream_id, uint64_t sequence) {
  const std::lock_guard lock(Races().mutex);
  NoteDoneLocked(Races(), {stream_id, sequence});
}

void NoteWaitsDone(uint32_t event_id) {
  RaceTable& table = Races();
  const std::lock_guard lock(table.mutex);
  for (const auto& [stream_id, work] : table.streams) {
    const auto newest =
        std::find_if(work.orders.rbegin(), work.orders.rend(),
                     [&](const Order& order) { return order.event_id == event_id; });
    if (newest != work.orders.rend()) NoteDoneLocked(table, {stream_id, newest->sequence});
  }
}

void ForgetWork(int32_t stream_id) {
  const std::lock_guard lock(Races().mutex);
  const auto found = Races().streams.find(stream_id);
  if (found != Races().streams.end()) found->second.tasks.clear();
}

void ForgetStream(int32_t stream_id) noexcept {
  const std::lock_guard lock(Races().mutex);
  const auto found = Races().streams.find(stream_id);
  if (found == Races().streams.end()) return;
  found->second.tasks.clear();
  found->second.is_gone = true;
  EraseSpentStreams(Races());
  LimitGoneStreams(Races());
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
