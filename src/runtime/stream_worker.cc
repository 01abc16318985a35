// SPDX-License-Identifier: Apache-2.0
// The worker thread of a stream, and what becomes of all workers when the process exits.
#include "runtime/stream_worker.h"

#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_set>

#include "acl/acl.h"
#include "runtime/never_destroyed.h"
#include "runtime/stream.h"
#include "runtime/stream_spin.h"

namespace mlmargin::runtime {
namespace {

std::atomic<bool> process_is_exiting = false;

// Streams with a worker, whether their handles live or not. A worker holds its stream.
struct WorkerSet {
  std::mutex mutex;
  std::unordered_set<Stream*> streams;
};

WorkerSet& Workers() {
  static NeverDestroyed<WorkerSet> workers;
  return workers.get();
}

// One stream with a worker, which is in the set no more; null if there is none.
std::shared_ptr<Stream> TakeWorker() {
  const std::lock_guard lock(Workers().mutex);
  const auto first = Workers().streams.begin();
  if (first == Workers().streams.end()) return nullptr;
  std::shared_ptr<Stream> stream = (*first)->shared_from_this();
  Workers().streams.erase(first);
  return stream;
}

// Runs before the destructors of static objects that device tasks may use. Workers are neither
// ended nor joined: they may sit in user code. They just take no further task.
void StopWorkersAtExit() {
  if (InForkedChild()) return;  // The workers are the parent's, and may have held locks.
  process_is_exiting.store(true, std::memory_order_seq_cst);
  while (const std::shared_ptr<Stream> stream = TakeWorker()) stream->AwaitDeviceTaskAtExit();
}

void AddWorker(Stream* stream) {
  static const int registered = std::atexit(StopWorkersAtExit);
  static_cast<void>(registered);
  const std::lock_guard lock(Workers().mutex);
  Workers().streams.insert(stream);
}

void RemoveWorker(Stream* stream) {
  const std::lock_guard lock(Workers().mutex);
  Workers().streams.erase(stream);
}

// Blocks all signals while it lives, but those of a thread's own faults: a thread started meanwhile
// never runs the program's other handlers.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t all;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

bool ProcessIsExiting() { return process_is_exiting.load(std::memory_order_relaxed); }

Status Stream::StartWorker() {
  if (worker_started_) return {};
  AddWorker(this);
  try {
    const SignalBlock block;
    std::thread([self = shared_from_this()] { self->WorkerMain(); }).detach();
  } catch (const std::system_error& error) {
    RemoveWorker(this);
    return Status(
        ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "EE1023",
        fmt::format("the worker thread of stream {} could not be started: {}", id_, error.what()));
  } catch (...) {  // Out of memory.
    RemoveWorker(this);
    throw;
  }
  worker_started_ = true;
  return {};
}

void Stream::WorkerMain() {
  pthread_setname_np(pthread_self(), fmt::format("mlm-stream-{}", id_ % 10000).c_str());
  UniqueLock lock = Lock();
  bool may_spin = true;
  // At exit a worker stays where it is: its end would run destructors of libraries that are gone.
  while (!closed_ || !queue_.empty() || ProcessIsExiting()) {
    if (HeadReady()) {
      RunHead(lock);
      may_spin = true;
    } else if (may_spin) {
      may_spin = false;
      const uint32_t seen = work_count_.load(std::memory_order_relaxed);
      lock.unlock();
      SpinUntil([&] { return work_count_.load(std::memory_order_acquire) != seen; });
      lock = Lock();
    } else {
      ParkWorker(lock);
      may_spin = true;
    }
  }
  lock.unlock();
  RemoveWorker(this);
}

void Stream::ParkWorker(UniqueLock& lock) {
  worker_parked_ = true;
  const Clock::time_point deadline =
      running_ || queue_.empty() ? Clock::time_point::max() : queue_.front().deadline;
  if (deadline == Clock::time_point::max() || ProcessIsExiting()) {
    work_cv_.wait(lock);
  } else {
    work_cv_.wait_until(lock, deadline);
  }
  worker_parked_ = false;
}

void Stream::AwaitDeviceTaskAtExit() {
  UniqueLock lock = Lock();
  AwaitDeviceTask(lock);
}

}  // namespace mlmargin::runtime
