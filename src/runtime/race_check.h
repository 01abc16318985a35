// SPDX-License-Identifier: Apache-2.0
// The check of MLMARGIN_RACE_CHECK: does the host copy memory that work of a stream touches,
// without having waited for that work? It does not hang on how far the work is, so that a mistake
// shows in every run: work counts until a call of the host has learnt that it is done.
//
// Thread-safe. All but RaceCheckIsOn() (debug_settings.h) is to be called only while that is true.
#ifndef MLMARGIN_RUNTIME_RACE_CHECK_H_
#define MLMARGIN_RUNTIME_RACE_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "runtime/call_site.h"
#include "runtime/private_api.h"

namespace mlmargin::runtime {

// What is kept of a task. Made by the thread that enqueues it, before it may run.
struct TaskNote {
  explicit TaskNote(const Task& task);

  const char* function;
  std::vector<Access> accesses;  // Without blocks: they keep nothing mapped.
  CallSite site;
};

// The task is number `sequence` of the stream.
void NoteTask(int32_t stream_id, uint64_t sequence, TaskNote note);

// The work of a stream up to its number `sequence`.
struct WorkPoint {
  int32_t stream_id;
  uint64_t sequence;
};

// Number `sequence` of a stream has waited for `other`, in the event: who knows that the one is
// over knows it of the other.
struct Order {
  uint64_t sequence;
  uint32_t event_id;
  WorkPoint other;
};
using Orders = std::list<Order>;

// Room for orders of a wait that is about to be enqueued in the stream.
Orders MakeRoomForOrders(int32_t stream_id, size_t count);

// The wait is over, and was for that. Takes one of `room`, and no memory: for workers.
void NoteOrder(int32_t stream_id, const Order& order, Orders& room) noexcept;

// A thread of the host knows that all work of the stream up to `sequence` is over.
void NoteDone(int32_t stream_id, uint64_t sequence);

// A thread of the host knows that all waits for the event are over.
void NoteWaitsDone(uint32_t event_id);

// The stream was aborted or destroyed by force: its work is over, whether it ran or was dropped.
// That says nothing of the work that it waited for.
void ForgetWork(int32_t stream_id);

// The stream is gone. Who waited for its events still knows what it had waited for.
void ForgetStream(int32_t stream_id) noexcept;

// The host touches memory in `function`: a conflict is counted and logged, once for two places.
void CheckHostAccess(const char* function, std::span<const Access> accesses);

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_RACE_CHECK_H_
