// SPDX-License-Identifier: Apache-2.0
// The check of MLMARGIN_RACE_CHECK: does the host copy memory that work of a stream touches,
// without having waited for that work? It does not hang on how far the work is, so that a mistake
// shows in every run: work counts until a call of the host has learnt that it is done.
//
// Thread-safe. All but RaceCheckIsOn() (debug_settings.h) is to be called only while that is true.
#ifndef MLMARGIN_RUNTIME_RACE_CHECK_H_
#define MLMARGIN_RUNTIME_RACE_CHECK_H_

#include <cstdint>
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

// Number `sequence` of the stream waits for the work of another stream up to its number
// `other_sequence`: who knows of the one knows of the other.
void NoteOrder(int32_t stream_id, uint64_t sequence, int32_t other_id, uint64_t other_sequence);

// A thread of the host knows that all work of the stream up to `sequence` is over.
void NoteDone(int32_t stream_id, uint64_t sequence);

// The stream is gone, and all its work over.
void ForgetStream(int32_t stream_id);

// The host touches memory in `function`: a conflict is counted and logged, once for two places.
void CheckHostAccess(const char* function, std::span<const Access> accesses);

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_RACE_CHECK_H_
