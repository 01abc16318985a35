// SPDX-License-Identifier: Apache-2.0
// A lock for signal handlers.
#ifndef MLMARGIN_RUNTIME_SIGNAL_LOCK_H_
#define MLMARGIN_RUNTIME_SIGNAL_LOCK_H_

#include <sched.h>

#include <mutex>

namespace mlmargin::runtime {

// Tries for a while, half a second or so: the thread that was interrupted may hold the mutex.
class SignalLock {
 public:
  explicit SignalLock(std::mutex& mutex) noexcept : mutex_(mutex) {
    for (int tries = 0; tries < kMaxTries && !held_; ++tries) {
      held_ = mutex_.try_lock();
      if (!held_) sched_yield();
    }
  }
  ~SignalLock() {
    if (held_) mutex_.unlock();
  }
  SignalLock(const SignalLock&) = delete;
  SignalLock& operator=(const SignalLock&) = delete;

  bool held() const { return held_; }

 private:
  static constexpr int kMaxTries = 1000000;

  std::mutex& mutex_;
  bool held_ = false;
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_SIGNAL_LOCK_H_
