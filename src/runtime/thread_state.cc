// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_state.h"

#include <pthread.h>

#include <memory>

namespace mlmargin::runtime {
namespace {

// A plain pointer: thread_local objects with destructors would be gone while later destructors
// of the same thread still call in.
thread_local ThreadState* this_thread = nullptr;

// pthread keys are destroyed after all thread_local objects. A state made again by a later key's
// destructor is freed in the next round.
void FreeThreadState(void* state) {
  this_thread = nullptr;
  delete static_cast<ThreadState*>(state);
}

pthread_key_t MakeKey() {
  pthread_key_t key{};
  pthread_key_create(&key, &FreeThreadState);
  return key;
}

}  // namespace

ThreadState& ThisThread() {
  if (this_thread == nullptr) {
    static const pthread_key_t key = MakeKey();
    auto state = std::make_unique<ThreadState>();
    pthread_setspecific(key, state.get());
    this_thread = state.release();
  }
  return *this_thread;
}

}  // namespace mlmargin::runtime
