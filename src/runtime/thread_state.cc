// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_state.h"

#include <pthread.h>

#include <memory>
#include <new>

namespace mlmargin::runtime {
namespace {

// Plain objects: thread_local ones with destructors would be gone while later destructors of the
// same thread still call in.
constinit thread_local ThreadState this_thread;
constinit thread_local ThreadTexts* texts_of_this_thread = nullptr;

// pthread keys are destroyed after all thread_local objects. Texts made again by a later key's
// destructor are freed in the next round.
void FreeTexts(void* texts) {
  texts_of_this_thread = nullptr;
  delete static_cast<ThreadTexts*>(texts);
}

pthread_key_t MakeKey() {
  pthread_key_t key{};
  pthread_key_create(&key, &FreeTexts);
  return key;
}

}  // namespace

ThreadState& ThisThread() noexcept { return this_thread; }

ThreadTexts& TextsOfThisThread() {
  if (texts_of_this_thread == nullptr) {
    static const pthread_key_t key = MakeKey();
    auto texts = std::make_unique<ThreadTexts>();
    if (pthread_setspecific(key, texts.get()) != 0) throw std::bad_alloc();
    texts_of_this_thread = texts.release();
  }
  return *texts_of_this_thread;
}

}  // namespace mlmargin::runtime
