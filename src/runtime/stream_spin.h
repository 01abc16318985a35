// SPDX-License-Identifier: Apache-2.0
// Waiting for a moment without giving up the core: cheaper than to park and be woken when what is
// waited for takes a microsecond, and bounded, so that no core is burnt when it takes long.
#ifndef MLMARGIN_RUNTIME_STREAM_SPIN_H_
#define MLMARGIN_RUNTIME_STREAM_SPIN_H_

#include <chrono>
#include <mutex>
#include <thread>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace mlmargin::runtime {

inline void CpuPause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// True on a machine where another thread can make progress while this one spins.
inline bool SpinningHelps() {
  static const bool helps = std::thread::hardware_concurrency() != 1;
  return helps;
}

// Asks `predicate`, a load or two, again and again for at most about 15 us.
template <typename Predicate>
bool SpinUntil(Predicate predicate) {
  if (predicate()) return true;
  if (!SpinningHelps()) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(15);
  do {
    for (int i = 0; i < 8; ++i) {
      CpuPause();
      if (predicate()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Locks a mutex whose holders are quick. glibc's mutex sleeps at once when it is taken, which
// costs microseconds where the holder needs 50 ns.
inline std::unique_lock<std::mutex> LockQuickly(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (SpinningHelps()) {
    for (int i = 0; i < 64 && !lock.owns_lock(); ++i) {
      CpuPause();
      lock.try_lock();
    }
  }
  if (!lock.owns_lock()) lock.lock();
  return lock;
}

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_STREAM_SPIN_H_
