// SPDX-License-Identifier: Apache-2.0
#include "runtime/report_queue.h"

#include <fmt/core.h>

#include <utility>

#include "runtime/debug_settings.h"
#include "runtime/race_check.h"
#include "runtime/stream.h"

namespace mlmargin::runtime {

Ticket::Ticket(aclrtCallback function, void* user_data, std::shared_ptr<ReportQueue> queue,
               const std::shared_ptr<Stream>& stream)
    : function_(function), user_data_(user_data), queue_(std::move(queue)), stream_(stream) {
  queue_->CountLaunched(1);
}

Ticket::~Ticket() { queue_->CountLaunched(-1); }

bool Ticket::RunOnReportThread() {
  if (taken_.exchange(true, std::memory_order_acq_rel)) return false;
  struct SetOnExit {
    Signal& signal;
    ~SetOnExit() { signal.Set(); }
  } const set_on_exit{finished_};
  const std::shared_ptr<Stream> stream = stream_.lock();
  if (stream != nullptr && RaceCheckIsOn()) NoteDone(stream->id(), stream->done());
  const CallbackScope scope(stream.get());
  function_(user_data_);
  return true;
}

void ReportQueue::Post(Tickets tickets) noexcept {
  {
    const std::lock_guard lock(mutex_);
    posted_.splice(posted_.end(), tickets);
  }
  changed_.notify_all();
}

Status ReportQueue::Take(int32_t timeout_ms, Clock::time_point deadline,
                         std::shared_ptr<Ticket>* ticket) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return !posted_.empty() || (subscriptions_ == 0 && launched_ == 0); };
  if (timeout_ms < 0) {
    changed_.wait(lock, ready);
  } else if (!changed_.wait_until(lock, deadline, ready)) {
    return Status(ACL_ERROR_RT_REPORT_TIMEOUT, "EE1019",
                  fmt::format("no callback came within {} ms.", timeout_ms));
  }
  if (posted_.empty()) return ThreadNotSubscribed();
  *ticket = std::move(posted_.front());
  posted_.pop_front();
  return {};
}

bool ReportQueue::IsUnused() const {
  const std::lock_guard lock(mutex_);
  return subscriptions_ == 0 && launched_ == 0;
}

void ReportQueue::Count(int* count, int change) {
  {
    const std::lock_guard lock(mutex_);
    *count += change;
  }
  changed_.notify_all();
}

Status ThreadNotSubscribed() {
  return Status(ACL_ERROR_RT_THREAD_SUBSCRIBE, "EE1018",
                "the calling thread serves no stream; call aclrtSubscribeReport first.");
}

}  // namespace mlmargin::runtime
