// SPDX-License-Identifier: Apache-2.0
// What the runtime keeps for each thread. It outlives the thread's C++ thread_local objects, so
// API calls from their destructors, and from static destructors, find it intact.
#ifndef MLMARGIN_RUNTIME_THREAD_STATE_H_
#define MLMARGIN_RUNTIME_THREAD_STATE_H_

#include <cstdint>
#include <list>
#include <string>

namespace mlmargin::runtime {

// What needs no memory, so that it can always be had.
struct ThreadState {
  int32_t last_error = 0;
  void* current_context = nullptr;  // A handle, perhaps stale.
};
ThreadState& ThisThread() noexcept;

struct ThreadTexts {
  std::list<std::string> pending;  // Newest first.
  std::string returned;            // What aclGetRecentErrMsg handed out last.
};

// The calling thread's texts; made on first use, freed when the thread ends.
ThreadTexts& TextsOfThisThread();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_THREAD_STATE_H_
