// SPDX-License-Identifier: Apache-2.0
// The queue of a stream and those who wait for it. See also stream_worker.cc and stream_end.cc.
#include "runtime/stream.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "acl/acl.h"
#include "runtime/context.h"
#include "runtime/debug_settings.h"
#include "runtime/errors.h"
#include "runtime/fault_report.h"
#include "runtime/race_check.h"
#include "runtime/stream_spin.h"
#include "runtime/stream_worker.h"

namespace mlmargin::runtime {
namespace {

thread_local bool in_callback = false;
thread_local const Stream* callback_stream = nullptr;

// For the exception being handled in a task. Must not throw, so the texts of last resort fit a
// string without allocation.
Status TaskException(int32_t stream_id) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "out of memory");
  } catch (const std::exception& error) {
    try {
      return Status(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999",
                    fmt::format("a task of stream {} threw: {}", stream_id, error.what()));
    } catch (...) {
    }
  } catch (...) {
  }
  return Status(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "a task threw");
}

Status RunDeviceTask(Task& task) {
  return DeviceMemoryIsIsolated() ? RunWatched(task) : task.Run();
}

}  // namespace

CallbackScope::CallbackScope(const Stream* stream) {
  in_callback = true;
  callback_stream = stream;
}
CallbackScope::~CallbackScope() {
  in_callback = false;
  callback_stream = nullptr;
}
bool CallbackScope::IsOpen() { return in_callback; }
const Stream* CallbackScope::Current() { return callback_stream; }

Stream::UniqueLock Stream::Lock() const { return LockQuickly(mutex_); }

// ---- Submission ------------------------------------------------------------------------------

Status Stream::Push(TaskKind kind, std::unique_ptr<Task> task, uint64_t* sequence) {
  Items items;
  items.push_back({.task = std::move(task), .kind = kind});
  return PushItems(std::move(items), /*wake_worker=*/true, sequence);
}

Status Stream::PushWait(std::unique_ptr<WaitTask> wait, std::chrono::seconds limit,
                        uint64_t* sequence) {
  WaitTask* const raw = wait.get();
  Items items;
  items.push_back({.task = std::move(wait), .wait = raw, .limit = limit});
  return PushItems(std::move(items), /*wake_worker=*/true, sequence);
}

Status Stream::PushWithWait(TaskKind kind, std::unique_ptr<Task> task,
                            std::unique_ptr<WaitTask> wait) {
  WaitTask* const raw = wait.get();
  Items items;
  items.push_back({.task = std::move(task), .kind = kind});
  items.push_back({.task = std::move(wait), .wait = raw});
  return PushItems(std::move(items), /*wake_worker=*/true, nullptr);
}

Status Stream::PushAndWait(TaskKind kind, std::unique_ptr<Task> task) {
  MLMARGIN_RETURN_IF_ERROR(CheckNotInOwnCallback());
  uint64_t sequence = 0;
  Items items;
  items.push_back({.task = std::move(task), .kind = kind});
  // The worker may sleep on: this thread runs the task, or waits for who runs those before it.
  MLMARGIN_RETURN_IF_ERROR(PushItems(std::move(items), /*wake_worker=*/false, &sequence));
  UniqueLock lock = Lock();
  return StatusOf(WaitUntilDone(lock, sequence, /*timeout_ms=*/-1, OnAbort::kWaitOn), -1);
}

Status Stream::PushItems(Items items, bool wake_worker, uint64_t* sequence) {
  bool notify = false;
  std::optional<TaskNote> note;
  if (RaceCheckIsOn()) note.emplace(*items.front().task);
  {
    const UniqueLock lock = Lock();
    MLMARGIN_RETURN_IF_ERROR(CheckOpen());
    const bool idle = queue_.empty() && !running_;
    if (wake_worker || !idle) MLMARGIN_RETURN_IF_ERROR(StartWorker());
    uint64_t last = submitted_;
    for (Item& item : items) item.sequence = ++last;
    if (note) NoteTask(id_, last, std::move(*note));  // The last thing that may fail.
    submitted_ = last;
    queue_.splice(queue_.end(), items);
    if (sequence != nullptr) *sequence = last;
    notify = wake_worker && NoteWork();
  }
  // Without the lock, or the worker would wake only to wait for it.
  if (notify) work_cv_.notify_one();
  return {};
}

Status Stream::CheckOpen() const {
  if (IsStopped()) return StoppedStatus();
  if (closed_) {
    return Status(ACL_ERROR_RT_INVALID_HANDLE, "EE1017",
                  fmt::format("stream {} was destroyed; expected a live stream.", id_));
  }
  if (aborts_running_ > 0 || ProcessIsExiting()) return StatusOf(WaitResult::kAborted, 0);
  return {};
}

bool Stream::NoteWork() {
  work_count_.fetch_add(1, std::memory_order_release);
  return std::exchange(worker_parked_, false);
}

void Stream::Poke() {
  bool notify = false;
  {
    const UniqueLock lock = Lock();
    notify = NoteWork();
  }
  if (notify) work_cv_.notify_one();
}

// ---- Running ---------------------------------------------------------------------------------

bool Stream::HeadReady() {
  if (running_ || queue_.empty() || ProcessIsExiting()) return false;
  Item& head = queue_.front();
  if (head.wait == nullptr || head.wait->Ready(shared_from_this())) return true;
  if (head.limit.count() == 0) return false;
  const Clock::time_point now = Clock::now();
  if (head.deadline == Clock::time_point::max()) head.deadline = now + head.limit;
  return now >= head.deadline;
}

void Stream::RunHead(UniqueLock& lock) {
  Items head;
  head.splice(head.end(), queue_, queue_.begin());
  Item& item = head.front();
  const uint64_t sequence = item.sequence;
  running_ = true;
  running_kind_ = item.kind;
  lock.unlock();
  Status status = RunItem(item);
  head.clear();
  // Before the task counts as done: who has seen the failure must find the context stopped.
  if (!status.ok() && stop_on_failure_.load(std::memory_order_relaxed)) {
    if (const std::shared_ptr<Context> failed = context()) StopContext(failed, status.code());
    Stop(status.code());
  }
  lock = Lock();
  running_ = false;
  Finish(sequence, std::move(status), lock);
  const bool notify_worker = !queue_.empty() && NoteWork();
  WakeWaiters(lock, notify_worker);
}

Status Stream::RunItem(Item& item) noexcept {
  const std::chrono::seconds limit(item.kind == TaskKind::kOperator
                                       ? OpExecuteTimeoutSeconds().load(std::memory_order_relaxed)
                                       : 0);
  try {
    if (item.kind == TaskKind::kHostFunction) {
      if (RaceCheckIsOn()) NoteDone(id_, item.sequence);
      const CallbackScope scope(this);
      return item.task->Run();
    }
    if (limit.count() == 0) return RunDeviceTask(*item.task);
    const Clock::time_point start = Clock::now();
    Status status = RunDeviceTask(*item.task);
    if (!status.ok() || Clock::now() - start <= limit) return status;
    return Status(ACL_ERROR_RT_AICORE_TIMEOUT, "EZ2001",
                  fmt::format("an operator on stream {} took longer than the {} s that "
                              "aclrtSetOpExecuteTimeOut allows; its outputs are written.",
                              id_, limit.count()));
  } catch (...) {
    return TaskException(id_);
  }
}

void Stream::Finish(uint64_t sequence, Status status, UniqueLock& lock) {
  // Tasks dropped while this one ran are done with it, unless they are still being destroyed.
  done_.store(drops_running_ == 0 ? std::max(sequence, dropped_) : sequence,
              std::memory_order_release);
  if (status.ok()) return;
  if (failure_.ok()) {
    failure_ = std::move(status);
    failure_sequence_ = sequence;
    return;
  }
  lock.unlock();
  LogUnreported("failed after another one whose failure nobody has asked for yet", status);
  lock = Lock();
}

void Stream::DropQueued(UniqueLock& lock, Items& dropped, WaitResult why) {
  if (queue_.empty()) return;
  dropped.swap(queue_);
  const uint64_t first = dropped.front().sequence;
  for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) {
    const bool concerned = waiter->sequence >= first && waiter->result == WaitResult::kDone;
    if (concerned) waiter->result = why;
  }
  dropped_ = submitted_;
  ++drops_running_;
  lock.unlock();
  dropped.clear();
  lock = Lock();
  --drops_running_;
  // Else the running task, or the last of the other threads here, sees to it.
  if (!running_ && drops_running_ == 0) {
    done_.store(std::max(done_.load(std::memory_order_relaxed), dropped_),
                std::memory_order_release);
  }
}

void Stream::WakeWaiters(UniqueLock& lock, bool notify_worker) {
  const bool notify_waiters = done_.load(std::memory_order_relaxed) >= earliest_target_;
  if (notify_waiters) earliest_target_ = kAllTasks;
  if (!notify_waiters && !notify_worker) return;
  lock.unlock();
  if (notify_worker) work_cv_.notify_one();
  if (notify_waiters) done_cv_.notify_all();
  lock = Lock();
}

// ---- Waiting ---------------------------------------------------------------------------------

Status Stream::Synchronize(int32_t timeout_ms) {
  MLMARGIN_RETURN_IF_ERROR(CheckNotInOwnCallback());
  UniqueLock lock = Lock();
  const uint64_t target = submitted_;
  const WaitResult result = WaitUntilDone(lock, target, timeout_ms, OnAbort::kReturn);
  if (result != WaitResult::kDone && result != WaitResult::kStopped) {
    return StatusOf(result, timeout_ms);
  }
  MLMARGIN_RETURN_IF_ERROR(TakeFailureLocked(target));
  return IsStopped() ? StoppedStatus() : Status();
}

Status Stream::Wait(uint64_t sequence, int32_t timeout_ms) {
  UniqueLock lock = Lock();
  const uint64_t target = std::min(sequence, submitted_);
  if (timeout_ms != 0 && done_.load(std::memory_order_relaxed) < target) {
    MLMARGIN_RETURN_IF_ERROR(CheckNotInOwnCallback());
  }
  const WaitResult result = WaitUntilDone(lock, target, timeout_ms, OnAbort::kReturn);
  if (result == WaitResult::kStopped && !failure_.ok() && failure_sequence_ <= target) {
    return failure_;
  }
  return StatusOf(result, timeout_ms);
}

Status Stream::TakeFailure(uint64_t sequence) {
  const UniqueLock lock = Lock();
  return TakeFailureLocked(sequence);
}

Status Stream::TakeFailureLocked(uint64_t sequence) {
  if (!failure_.ok() && failure_sequence_ <= sequence) return std::exchange(failure_, Status());
  return {};
}

bool Stream::IsIdle() const {
  const UniqueLock lock = Lock();
  const bool idle = done_.load(std::memory_order_relaxed) == submitted_;
  if (idle && RaceCheckIsOn()) NoteDone(id_, submitted_);
  return idle;
}

Stream::Waiter::Waiter(Waiter*& list, uint64_t target) : sequence(target), next(list), link(&list) {
  if (next != nullptr) next->link = &next;
  list = this;
}

Stream::Waiter::~Waiter() {
  *link = next;
  if (next != nullptr) next->link = link;
}

Stream::WaitResult Stream::WaitUntilDone(UniqueLock& lock, uint64_t sequence, int32_t timeout_ms,
                                         OnAbort on_abort) {
  const WaitResult result = AwaitDone(lock, sequence, timeout_ms, on_abort);
  if (RaceCheckIsOn() && done_.load(std::memory_order_relaxed) >= sequence) NoteDone(id_, sequence);
  return result;
}

Stream::WaitResult Stream::AwaitDone(UniqueLock& lock, uint64_t sequence, int32_t timeout_ms,
                                     OnAbort on_abort) {
  if (done_.load(std::memory_order_relaxed) >= sequence) return WaitResult::kDone;
  const Waiter self(waiters_, sequence);
  const bool for_ever = timeout_ms < 0;
  const Clock::time_point deadline =
      for_ever ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(timeout_ms);
  const uint64_t aborts_before = abort_count_;
  bool has_spun = false;
  while (done_.load(std::memory_order_relaxed) < sequence) {
    if (ProcessIsExiting()) return WaitResult::kExiting;
    const bool aborted = abort_count_ != aborts_before || aborts_running_ > 0;
    if (aborted && on_abort == OnAbort::kReturn) return WaitResult::kAborted;
    if (for_ever && MayHelp() && HeadReady()) {
      RunHead(lock);
      has_spun = false;
    } else if (timeout_ms == 0 || (!for_ever && Clock::now() >= deadline)) {
      return WaitResult::kTimeout;
    } else if (!has_spun) {
      has_spun = true;
      lock.unlock();
      SpinUntil([&] { return done_.load(std::memory_order_acquire) >= sequence; });
      lock = Lock();
    } else {
      ParkWaiter(lock, sequence, deadline);
    }
  }
  return on_abort == OnAbort::kReturn ? self.result : WaitResult::kDone;
}

bool Stream::MayHelp() const {
  return !queue_.empty() && queue_.front().kind != TaskKind::kHostFunction;
}

void Stream::ParkWaiter(UniqueLock& lock, uint64_t sequence, Clock::time_point deadline) {
  earliest_target_ = std::min(earliest_target_, sequence);
  if (deadline == Clock::time_point::max()) {
    done_cv_.wait(lock);
  } else {
    done_cv_.wait_until(lock, deadline);
  }
}

Status Stream::CheckNotInOwnCallback() const {
  if (CallbackScope::Current() != this) return {};
  return Status(ACL_ERROR_RT_PARAM_INVALID, "EE1018",
                fmt::format("a host function or callback of stream {} waits for this very stream, "
                            "which waits for it; expected no such wait in it.",
                            id_));
}

Status Stream::StatusOf(WaitResult result, int32_t timeout_ms) const {
  switch (result) {
    case WaitResult::kDone:
      break;
    case WaitResult::kTimeout:
      return Status(
          ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "EE1002",
          fmt::format("stream {} was not done within {} ms; its work goes on.", id_, timeout_ms));
    case WaitResult::kAborted:
      return Status(
          ACL_ERROR_RT_STREAM_ABORT, "EE1019",
          fmt::format("stream {} is being or was aborted; its queued tasks were dropped.", id_));
    case WaitResult::kStopped:
      return StoppedStatus();
    case WaitResult::kExiting:
      return Status(
          ACL_ERROR_RT_STREAM_ABORT, "EE1019",
          fmt::format("the process exits; the work left in stream {} does not run.", id_));
  }
  return {};
}

Status Stream::StoppedStatus() const {
  return Status(
      stop_code_, "EE1019",
      fmt::format("the context of stream {} was stopped by a failed task in a stream with "
                  "ACL_STOP_ON_FAILURE; its queued tasks were dropped and it takes no new "
                  "ones.",
                  id_));
}

}  // namespace mlmargin::runtime
