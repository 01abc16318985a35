// SPDX-License-Identifier: Apache-2.0
// How the work of a stream ends before it is done, and the stream itself.
#include <fmt/core.h>

#include <exception>
#include <utility>

#include "acl/acl.h"
#include "runtime/callback.h"
#include "runtime/debug_settings.h"
#include "runtime/errors.h"
#include "runtime/race_check.h"
#include "runtime/stream.h"

namespace mlmargin::runtime {

bool Stream::DeviceTaskRuns() const { return running_ && running_kind_ != TaskKind::kHostFunction; }

Status Stream::Abort() {
  Items dropped;
  UniqueLock lock = Lock();
  ++aborts_running_;
  ++abort_count_;
  DropQueued(lock, dropped, WaitResult::kAborted);
  AwaitDeviceTask(lock);
  --aborts_running_;
  if (RaceCheckIsOn()) ForgetWork(id_);
  return {};
}

void Stream::AwaitDeviceTask(UniqueLock& lock) {
  earliest_target_ = 0;  // Whoever waits now looks again.
  WakeWaiters(lock, /*notify_worker=*/false);
  while (DeviceTaskRuns() || drops_running_ > 0) {
    earliest_target_ = 0;  // Whatever ends next concerns this thread.
    done_cv_.wait(lock);
  }
}

Status Stream::SetStopOnFailure(bool stop) {
  if (stop) {
    stop_on_failure_.store(true, std::memory_order_relaxed);
    return {};
  }
  if (!stop_on_failure_.load(std::memory_order_relaxed)) return {};
  return NotSupported(fmt::format(
      "stream {} has ACL_STOP_ON_FAILURE, which cannot be taken back to ACL_CONTINUE_ON_FAILURE.",
      id_));
}

void Stream::Stop(int32_t code) {
  Items dropped;
  UniqueLock lock = Lock();
  if (!IsStopped()) stop_code_ = code;
  DropQueued(lock, dropped, WaitResult::kStopped);
  WakeWaiters(lock, /*notify_worker=*/false);
}

void Stream::Close(CloseMode mode) {
  Status unreported;
  {
    Items dropped;
    UniqueLock lock = Lock();
    closed_ = true;
    if (mode == CloseMode::kDrop) {
      if (!queue_.empty()) ++abort_count_;
      DropQueued(lock, dropped, WaitResult::kAborted);
      if (RaceCheckIsOn()) ForgetWork(id_);
      earliest_target_ = 0;
    } else if (CallbackScope::Current() != this) {
      WaitUntilDone(lock, submitted_, /*timeout_ms=*/-1, OnAbort::kWaitOn);
    }
    unreported = std::exchange(failure_, Status());
    WakeWaiters(lock, /*notify_worker=*/NoteWork());
  }
  if (!unreported.ok()) {
    LogUnreported("failed, and the stream was destroyed before anyone asked", unreported);
  }
  ReleaseReportThread(*this);
  ReleaseSlot();
}

void Stream::LogUnreported(const char* what, const Status& failure) const noexcept {
  try {
    Log(ACL_ERROR, "RUNTIME",
        fmt::format("stream {}: a task {}; code {}: {}", id_, what, failure.code(),
                    failure.text()));
  } catch (...) {  // Out of memory: a line less.
  }
}

}  // namespace mlmargin::runtime
