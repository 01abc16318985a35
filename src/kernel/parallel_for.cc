// SPDX-License-Identifier: Apache-2.0
#include "kernel/parallel_for.h"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "kernel/float_environment.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MLMARGIN_TSAN 1
#endif
#endif
#ifdef MLMARGIN_TSAN
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace mlmargin::kernel {
namespace {

// Debian's oneTBB is not instrumented, so the thread sanitizer does not see that it orders the
// start of a range after the call, and the call's return after every range. These say so.
void Release([[maybe_unused]] const void* what) {
#ifdef MLMARGIN_TSAN
  __tsan_release(const_cast<void*>(what));
#endif
}
void Acquire([[maybe_unused]] const void* what) {
#ifdef MLMARGIN_TSAN
  __tsan_acquire(const_cast<void*>(what));
#endif
}

// A busy arena gives a whole call to one of its threads, which must see what the call captured
// before it can find anything of that call: so this one stands apart.
const char arena_entry = 0;

using oneapi::tbb::task_arena;

// The pool: one arena of the width last asked for. Never destroyed, since a detached thread may
// still compute while the process exits.
struct Pool {
  std::mutex mutex;
  std::condition_variable idle;
  std::shared_ptr<task_arena> arena;
  int width = 0;
  int running = 0;
  bool exiting = false;
  pid_t process = getpid();  // A child of fork has neither the threads nor a usable lock.
};

Pool& ThePool() {
  static Pool* const pool = new Pool;
  return *pool;
}

// oneTBB tears itself down when the process exits. Its handler was registered when the library was
// loaded, ours later, so this runs first: wait for what runs and keep off the pool from then on.
void StopAtExit() {
  Pool& pool = ThePool();
  if (pool.process != getpid()) return;
  std::unique_lock lock(pool.mutex);
  pool.exiting = true;
  pool.idle.wait(lock, [&] { return pool.running == 0; });
}

// Null when the process is exiting, and in a child of fork.
std::shared_ptr<task_arena> EnterPool(int width) {
  Pool& pool = ThePool();
  if (pool.process != getpid()) return nullptr;
  const std::lock_guard lock(pool.mutex);
  if (pool.exiting) return nullptr;
  if (pool.width != width) {
    if (pool.width == 0) std::atexit(StopAtExit);
    pool.arena = std::make_shared<task_arena>(width);
    pool.width = width;
  }
  ++pool.running;
  return pool.arena;
}

void LeavePool() {
  Pool& pool = ThePool();
  const std::lock_guard lock(pool.mutex);
  if (--pool.running == 0) pool.idle.notify_all();
}

}  // namespace

int AvailableCpus() {
  static const int cpus = oneapi::tbb::info::default_concurrency();
  return cpus;
}

void ParallelFor(int64_t count, int64_t grain, int threads,
                 const std::function<void(int64_t begin, int64_t end)>& body) {
  if (count <= 0) return;
  const int width = std::min(threads, AvailableCpus());
  const std::shared_ptr<task_arena> arena = width > 1 && count > grain ? EnterPool(width) : nullptr;
  if (arena == nullptr) {
    const DefaultFloatEnvironment environment;
    for (int64_t begin = 0; begin < count; begin += std::min(grain, count - begin)) {
      body(begin, begin + std::min(grain, count - begin));
    }
    return;
  }
  const struct Leave {
    ~Leave() { LeavePool(); }
  } leave;
  Release(&count);
  Release(&arena_entry);
  arena->execute([&] {
    Acquire(&arena_entry);
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<int64_t>(0, count, static_cast<size_t>(grain)),
        [&](const oneapi::tbb::blocked_range<int64_t>& range) {
          Acquire(&count);
          {
            const DefaultFloatEnvironment environment;
            body(range.begin(), range.end());
          }
          Release(&grain);
        },
        oneapi::tbb::simple_partitioner());
    Release(&grain);
  });
  Acquire(&grain);
}

}  // namespace mlmargin::kernel
