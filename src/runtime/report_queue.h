// SPDX-License-Identifier: Apache-2.0
// The way of a callback from its stream to the thread that runs it, and back.
#ifndef MLMARGIN_RUNTIME_REPORT_QUEUE_H_
#define MLMARGIN_RUNTIME_REPORT_QUEUE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "acl/acl.h"
#include "runtime/status.h"
#include "runtime/stream_signal.h"

namespace mlmargin::runtime {

class ReportQueue;
class Stream;

// One callback that was launched. Thread-safe.
class Ticket {
 public:
  Ticket(aclrtCallback function, void* user_data, std::shared_ptr<ReportQueue> queue,
         const std::shared_ptr<Stream>& stream);
  ~Ticket();
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  const std::shared_ptr<ReportQueue>& queue() const { return queue_; }
  Signal& finished() { return finished_; }

  // Runs the callback, unless the stream gave it up; whether it ran. What it throws passes through.
  bool RunOnReportThread();
  // The stream drops the callback: it does not run if it has not begun.
  void GiveUp() { taken_.store(true, std::memory_order_release); }

 private:
  const aclrtCallback function_;
  void* const user_data_;
  const std::shared_ptr<ReportQueue> queue_;
  const std::weak_ptr<Stream> stream_;
  std::atomic<bool> taken_ = false;
  Signal finished_;
};

// The callbacks for one thread. Thread-safe.
class ReportQueue {
 public:
  using Clock = std::chrono::steady_clock;

  ReportQueue(uint64_t thread_id, int32_t device_id)
      : thread_id_(thread_id), device_id_(device_id) {}

  uint64_t thread_id() const { return thread_id_; }
  int32_t device_id() const { return device_id_; }

  // Takes the tickets over, without memory: a callback that got lost would hold its stream for
  // ever.
  using Tickets = std::list<std::shared_ptr<Ticket>>;
  void Post(Tickets tickets) noexcept;
  // The next callback. 507012 after `deadline`, which lies `timeout_ms` behind the beginning of
  // the caller's wait (below 0: no limit), 107012 when none can come any more.
  Status Take(int32_t timeout_ms, Clock::time_point deadline, std::shared_ptr<Ticket>* ticket);

  void CountSubscriptions(int change) { Count(&subscriptions_, change); }
  void CountLaunched(int change) { Count(&launched_, change); }
  // True when the thread serves no stream and no callback is on its way to it.
  bool IsUnused() const;

 private:
  void Count(int* count, int change);

  const uint64_t thread_id_;
  const int32_t device_id_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Tickets posted_;
  int subscriptions_ = 0;
  int launched_ = 0;  // Callbacks launched and not over.
};

// 107012: the calling thread serves no stream.
Status ThreadNotSubscribed();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_REPORT_QUEUE_H_
