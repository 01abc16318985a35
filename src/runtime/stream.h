// SPDX-License-Identifier: Apache-2.0
// A stream: a queue of tasks that run in order on a worker thread of its own.
#ifndef MLMARGIN_RUNTIME_STREAM_H_
#define MLMARGIN_RUNTIME_STREAM_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <mutex>

#include "runtime/private_api.h"
#include "runtime/status.h"

namespace mlmargin::runtime {

class Context;
class ReportQueue;  // The callbacks of one report thread; see callback.h.

// What a task is, which says who may run it and what a time limit means for it.
enum class TaskKind : uint8_t {
  kOperator,      // Work of an operator: the worker, or a thread that waits without time-out.
  kDevice,        // Copies, memsets, records: as above, without aclrtSetOpExecuteTimeOut.
  kHostFunction,  // User code: the worker only.
};

// A task that holds its stream back without holding a thread.
class WaitTask : public Task {
 public:
  // True once the stream may go on; else `waiter` is poked when it is worth asking again. Called
  // with the stream's lock held: must not call into the stream or run foreign code.
  virtual bool Ready(const std::shared_ptr<Stream>& waiter) = 0;
  // Run() follows when Ready was true, or when the time limit is over: then it returns the
  // failure for that.
};

// Thread-safe. Tasks run and are destroyed with no lock held. A task counts as done after its
// destruction, so that what it held is free again when a wait returns.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  using Clock = std::chrono::steady_clock;

  // A stream of `context`; its worker starts with the first task. 207008 past the limit.
  static Status Create(const std::shared_ptr<Context>& context, uint32_t priority, uint32_t flags,
                       std::shared_ptr<Stream>* stream);
  ~Stream();

  int32_t id() const { return id_; }
  int32_t device_id() const { return device_id_; }
  uint32_t priority() const { return priority_; }
  uint32_t flags() const { return flags_; }
  std::shared_ptr<Context> context() const { return context_.lock(); }
  bool InContext(const std::shared_ptr<Context>& context) const;

  // Appends a task and returns at once. Codes: 107017 closed, 107023 being aborted, the failure's
  // code when its context was stopped, 207005 when the worker thread cannot start. `sequence`
  // becomes the task's number in the stream, for Wait and TakeFailure, before the task may run.
  Status Push(TaskKind kind, std::unique_ptr<Task> task, uint64_t* sequence = nullptr);
  // Appends a wait; after `limit`, counted from when it is reached, it fails. 0: no limit.
  Status PushWait(std::unique_ptr<WaitTask> wait, std::chrono::seconds limit,
                  uint64_t* sequence = nullptr);
  // Appends a task with a wait right behind it.
  Status PushWithWait(TaskKind kind, std::unique_ptr<Task> task, std::unique_ptr<WaitTask> wait);
  // Appends a task and returns when it has run or was dropped. Runs device tasks of this stream
  // meanwhile. Not in a host function of this very stream: 107000.
  Status PushAndWait(TaskKind kind, std::unique_ptr<Task> task);

  // Waits until the tasks enqueued before the call are done; returns the first failure since the
  // last wait. timeout_ms: -1 for ever, 0 checks at once; 507046 when it expires. A wait without
  // time-out may run device tasks of this stream on the calling thread, never host functions.
  // 107023 when they are aborted meanwhile; 107000 in a host function of this very stream.
  Status Synchronize(int32_t timeout_ms);

  // The two halves of Synchronize, for tasks up to number `sequence`. When a stop dropped some of
  // them meanwhile, Wait returns the failure behind it and leaves it to TakeFailure.
  static constexpr uint64_t kAllTasks = std::numeric_limits<uint64_t>::max();
  Status Wait(uint64_t sequence, int32_t timeout_ms);
  // A failure is reported once, by the waiting call that sees it first. Synchronize alone also
  // fails again and again when the context was stopped.
  Status TakeFailure(uint64_t sequence);

  // 107000 in a host function or callback of this stream, where a wait for it would never end.
  Status CheckNotInOwnCallback() const;

  // The tasks up to this number are done.
  uint64_t done() const { return done_.load(std::memory_order_acquire); }
  // True when all tasks are done.
  bool IsIdle() const;

  // Drops the queued tasks and waits for a running device task; a running host function goes on.
  Status Abort();

  // aclrtSetStreamFailureMode; 207000 from stop back to continue.
  Status SetStopOnFailure(bool stop);
  // The context failed with `code`: drops the queued tasks, and every later call fails.
  void Stop(int32_t code);
  bool IsStopped() const { return stop_code_.load(std::memory_order_relaxed) != 0; }

  // Bars new tasks. Drain waits for the queued ones; Drop discards those not yet started. In a
  // host function of this very stream, Drain leaves the waiting to the worker.
  enum class CloseMode { kDrain, kDrop };
  void Close(CloseMode mode);

  // Looks again whether the wait at the head is over.
  void Poke();

  // At exit: waits for a running device task; no further one starts.
  void AwaitDeviceTaskAtExit();

  // Who runs this stream's callbacks; owned by callback.cc.
  struct CallbackBinding {
    std::mutex mutex;
    std::shared_ptr<ReportQueue> report_queue;
    bool uses_host_functions = false;
    bool closed = false;
  };
  CallbackBinding& callback_binding() { return callback_binding_; }

 private:
  // A task in the queue. Items move between lists without memory: once a task is queued, nothing
  // that becomes of it can fail for want of memory.
  struct Item {
    std::unique_ptr<Task> task;
    WaitTask* wait = nullptr;  // `task`, if it is a wait.
    TaskKind kind = TaskKind::kDevice;
    uint64_t sequence = 0;
    std::chrono::seconds limit{0};
    Clock::time_point deadline = Clock::time_point::max();  // Set when the wait is reached.
  };
  using Items = std::list<Item>;
  using UniqueLock = std::unique_lock<std::mutex>;
  enum class WaitResult { kDone, kTimeout, kAborted, kStopped, kExiting };
  enum class OnAbort { kReturn, kWaitOn };
  // A waiting call, in the list of those of its stream while it lives. The lock is held.
  struct Waiter {
    Waiter(Waiter*& list, uint64_t target);
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    const uint64_t sequence;                // It waits for the tasks up to this one.
    WaitResult result = WaitResult::kDone;  // Else why one of them was dropped.
    Waiter* next;
    Waiter** link;  // What points to this one.
  };

  Stream(const std::shared_ptr<Context>& context, uint32_t priority, uint32_t flags);

  UniqueLock Lock() const;
  Status PushItems(Items items, bool wake_worker, uint64_t* sequence);
  Status RunItem(Item& item) noexcept;
  Status StatusOf(WaitResult result, int32_t timeout_ms) const;
  // For a failure that no waiting call will return.
  void LogUnreported(const char* what, const Status& failure) const noexcept;
  void ReleaseSlot();

  // The lock is held, and released meanwhile where it is passed.
  Status CheckOpen() const;
  bool HeadReady();
  bool MayHelp() const;
  void RunHead(UniqueLock& lock);
  void Finish(uint64_t sequence, Status status, UniqueLock& lock);
  // Releases the lock to destroy the tasks in `dropped`, which must be empty. The caller wakes
  // the waiting threads.
  void DropQueued(UniqueLock& lock, Items& dropped, WaitResult why);
  bool NoteWork();  // True: notify the worker.
  void WakeWaiters(UniqueLock& lock, bool notify_worker);
  WaitResult WaitUntilDone(UniqueLock& lock, uint64_t sequence, int32_t timeout_ms,
                           OnAbort on_abort);
  WaitResult AwaitDone(UniqueLock& lock, uint64_t sequence, int32_t timeout_ms, OnAbort on_abort);
  void ParkWaiter(UniqueLock& lock, uint64_t sequence, Clock::time_point deadline);
  void AwaitDeviceTask(UniqueLock& lock);
  Status TakeFailureLocked(uint64_t sequence);
  Status StoppedStatus() const;
  bool DeviceTaskRuns() const;

  Status StartWorker();
  void ParkWorker(UniqueLock& lock);
  void WorkerMain();

  const int32_t id_;
  const int32_t device_id_;
  const uint32_t priority_;
  const uint32_t flags_;
  const std::weak_ptr<Context> context_;  // The context holds its default stream.
  CallbackBinding callback_binding_;
  std::atomic<bool> stop_on_failure_ = false;

  mutable std::mutex mutex_;
  std::condition_variable work_cv_;  // The parked worker.
  std::condition_variable done_cv_;  // Parked waiting threads.
  Items queue_;
  uint64_t submitted_ = 0;          // Number of the newest task.
  std::atomic<uint64_t> done_ = 0;  // All tasks up to this number are done. Changed under lock.
  uint64_t dropped_ = 0;            // The newest task that was dropped.
  int32_t drops_running_ = 0;       // Threads that destroy dropped tasks: those are not done yet.
  std::atomic<uint32_t> work_count_ = 0;  // Changes when the worker should look at the queue.
  Waiter* waiters_ = nullptr;
  uint64_t earliest_target_ = kAllTasks;  // What the first of the parked waiting threads wants.
  uint64_t abort_count_ = 0;
  int32_t aborts_running_ = 0;
  std::atomic<int32_t> stop_code_ = 0;  // Changed under lock.
  Status failure_;                      // The first one not yet reported.
  uint64_t failure_sequence_ = 0;
  bool running_ = false;  // A task was taken from the queue and is not done.
  TaskKind running_kind_ = TaskKind::kDevice;
  bool closed_ = false;
  bool worker_started_ = false;
  bool worker_parked_ = false;
  std::atomic<bool> holds_slot_ = false;
};

// ---- All streams (stream_registry.cc) --------------------------------------------------------

// Stops a context after a failure in failure mode stop.
void StopContext(const std::shared_ptr<Context>& context, int32_t code);

// How many more streams the device can have.
uint32_t AvailableStreams(int32_t device_id);

// ---- Process-wide limits in seconds; 0 is none -----------------------------------------------

std::atomic<uint32_t>& OpExecuteTimeoutSeconds();
std::atomic<uint32_t>& OpWaitTimeoutSeconds();

// ---- Callbacks -------------------------------------------------------------------------------

// While it lives, the calling thread runs user code of `stream`: a wait for that stream would
// never end, so it is refused. Null for a stream that is gone.
class CallbackScope {
 public:
  explicit CallbackScope(const Stream* stream);
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  // Whether user code runs on this thread, and of which stream, if that lives.
  static bool IsOpen();
  static const Stream* Current();
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_STREAM_H_
