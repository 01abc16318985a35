// SPDX-License-Identifier: Apache-2.0
// A lock for signal handlers.
#ifndef MLMARGIN_RUNTIME_SIGNAL_LOCK_H_
#define MLMARGIN_RUNTIME_SIGNAL_LOCK_H_

#include <sched.h>
#include <time.h>

#include <cstdint>
#include <mutex>

namespace mlmargin::runtime {

// Gives up after two seconds: the thread that was interrupted may hold the mutex.
class SignalLock {
 public:
  explicit SignalLock(std::mutex& mutex) noexcept : mutex_(mutex) {
    const int64_t end = Seconds() + kMostSeconds;
    while (!(held_ = mutex_.try_lock()) && Seconds() <= end) sched_yield();
  }
  ~SignalLock() {
    if (held_) mutex_.unlock();
  }
  SignalLock(const SignalLock&) = delete;
  SignalLock& operator=(const SignalLock&) = delete;

  bool held() const { return held_; }

 private:
  static constexpr int64_t kMostSeconds = 2;

  static int64_t Seconds() noexcept {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
  }

  std::mutex& mutex_;
  bool held_ = false;
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_SIGNAL_LOCK_H_
