// SPDX-License-Identifier: Apache-2.0
// What the runtime keeps for each thread. It outlives the thread's C++ thread_local objects, so
// API calls from their destructors, and from static destructors, find it intact.
#ifndef MLMARGIN_RUNTIME_THREAD_STATE_H_
#define MLMARGIN_RUNTIME_THREAD_STATE_H_

#include <cstdint>
#include <deque>
#include <string>

namespace mlmargin::runtime {

struct ThreadState {
  int32_t last_error = 0;
  std::deque<std::string> pending_texts;  // Newest first.
  std::string returned_text;              // What aclGetRecentErrMsg handed out last.
  void* current_context = nullptr;        // A handle, perhaps stale.
};

// The calling thread's state; made on first use, freed when the thread ends.
ThreadState& ThisThread();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_THREAD_STATE_H_
