// SPDX-License-Identifier: Apache-2.0
#include "runtime/callback.h"

#include <fmt/core.h>
#include <pthread.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "runtime/c_api.h"
#include "runtime/never_destroyed.h"
#include "runtime/report_queue.h"
#include "runtime/stream.h"

namespace mlmargin::runtime {
namespace {

constexpr size_t kMaxReportThreads = 1024;

struct ReportThreads {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::shared_ptr<ReportQueue>> queues;
};

ReportThreads& Threads() {
  static NeverDestroyed<ReportThreads> threads;
  return threads.get();
}

void ForgetUnused(ReportThreads& threads) {  // Lock held.
  std::erase_if(threads.queues, [](const auto& entry) { return entry.second->IsUnused(); });
}

uint64_t ThisThreadId() { return static_cast<uint64_t>(pthread_self()); }

Status StreamSubscribe(std::string text) {
  return Status(ACL_ERROR_RT_STREAM_SUBSCRIBE, "EE1018", std::move(text));
}

// ---- Tasks -----------------------------------------------------------------------------------

class HostFunctionTask : public Task {
 public:
  HostFunctionTask(aclrtHostFunc function, void* args) : function_(function), args_(args) {}
  Status Run() override {
    function_(args_);
    return {};
  }

 private:
  const aclrtHostFunc function_;
  void* const args_;
};

class PostCallbackTask : public Task {
 public:
  explicit PostCallbackTask(const std::shared_ptr<Ticket>& ticket)
      : queue_(ticket->queue()), ticket_{ticket} {}
  Status Run() override {
    queue_->Post(std::move(ticket_));
    return {};
  }

 private:
  const std::shared_ptr<ReportQueue> queue_;
  ReportQueue::Tickets ticket_;
};

class CallbackWaitTask : public WaitTask {
 public:
  explicit CallbackWaitTask(std::shared_ptr<Ticket> ticket) : ticket_(std::move(ticket)) {}
  ~CallbackWaitTask() override { ticket_->GiveUp(); }
  bool Ready(const std::shared_ptr<Stream>& waiter) override {
    return ticket_->finished().IsSetOrRegister(waiter_, waiter);
  }
  Status Run() override { return {}; }

 private:
  const std::shared_ptr<Ticket> ticket_;
  Signal::Waiter waiter_;
};

// ---- Calls -----------------------------------------------------------------------------------

Status LaunchHostFunction(Stream& stream, aclrtHostFunc function, void* args) {
  Stream::CallbackBinding& binding = stream.callback_binding();
  const std::lock_guard lock(binding.mutex);
  if (binding.report_queue != nullptr) {
    return StreamSubscribe(fmt::format(
        "stream {} has a report thread, so it takes aclrtLaunchCallback only.", stream.id()));
  }
  MLMARGIN_RETURN_IF_ERROR(
      stream.Push(TaskKind::kHostFunction, std::make_unique<HostFunctionTask>(function, args)));
  binding.uses_host_functions = true;
  return {};
}

Status LaunchCallback(Stream& stream, aclrtCallback function, void* user_data,
                      aclrtCallbackBlockType block_type) {
  std::shared_ptr<ReportQueue> queue;
  {
    const std::lock_guard lock(stream.callback_binding().mutex);
    queue = stream.callback_binding().report_queue;
  }
  if (queue == nullptr) {
    return Status(ACL_ERROR_RT_STREAM_NO_CB_REG, "EE1018",
                  fmt::format("stream {} has no report thread; call aclrtSubscribeReport first.",
                              stream.id()));
  }
  auto ticket =
      std::make_shared<Ticket>(function, user_data, std::move(queue), stream.shared_from_this());
  auto post = std::make_unique<PostCallbackTask>(ticket);
  if (block_type == ACL_CALLBACK_NO_BLOCK) return stream.Push(TaskKind::kDevice, std::move(post));
  return stream.PushWithWait(TaskKind::kDevice, std::move(post),
                             std::make_unique<CallbackWaitTask>(std::move(ticket)));
}

// The queue of a thread, made if need be. Lock held.
Status QueueOf(ReportThreads& threads, uint64_t thread_id, int32_t device_id,
               std::shared_ptr<ReportQueue>* queue) {
  ForgetUnused(threads);
  const auto it = threads.queues.find(thread_id);
  if (it != threads.queues.end()) {
    *queue = it->second;
    if ((*queue)->device_id() == device_id) return {};
    return InvalidRuntimeParam(fmt::format(
        "thread {} serves streams of device {}; expected a stream of that device, not of {}.",
        thread_id, (*queue)->device_id(), device_id));
  }
  if (threads.queues.size() >= kMaxReportThreads) {
    return Status(
        ACL_ERROR_RT_OVER_LIMIT, "EE1023",
        fmt::format("{} threads serve streams already, the most there can be.", kMaxReportThreads));
  }
  *queue = std::make_shared<ReportQueue>(thread_id, device_id);
  threads.queues.emplace(thread_id, *queue);
  return {};
}

Status Subscribe(uint64_t thread_id, Stream& stream) {
  Stream::CallbackBinding& binding = stream.callback_binding();
  const std::lock_guard lock(binding.mutex);
  if (binding.closed) {  // Since this call looked the handle up.
    return Status(ACL_ERROR_RT_INVALID_HANDLE, "EE1017",
                  fmt::format("stream {} was destroyed; expected a live stream.", stream.id()));
  }
  if (binding.report_queue != nullptr) {
    return StreamSubscribe(fmt::format("stream {} has a report thread already.", stream.id()));
  }
  if (binding.uses_host_functions) {
    return StreamSubscribe(fmt::format(
        "stream {} uses aclrtLaunchHostFunc, so it takes no report thread.", stream.id()));
  }
  const std::lock_guard threads_lock(Threads().mutex);
  std::shared_ptr<ReportQueue> queue;
  MLMARGIN_RETURN_IF_ERROR(QueueOf(Threads(), thread_id, stream.device_id(), &queue));
  queue->CountSubscriptions(1);
  binding.report_queue = std::move(queue);
  return {};
}

Status Unsubscribe(uint64_t thread_id, Stream& stream) {
  Stream::CallbackBinding& binding = stream.callback_binding();
  const std::lock_guard lock(binding.mutex);
  if (binding.report_queue == nullptr) {
    return StreamSubscribe(fmt::format("stream {} has no report thread.", stream.id()));
  }
  if (binding.report_queue->thread_id() != thread_id) {
    return Status(ACL_ERROR_RT_THREAD_SUBSCRIBE, "EE1018",
                  fmt::format("argument threadId is {}, but thread {} serves stream {}.", thread_id,
                              binding.report_queue->thread_id(), stream.id()));
  }
  binding.report_queue->CountSubscriptions(-1);
  binding.report_queue = nullptr;
  const std::lock_guard threads_lock(Threads().mutex);
  ForgetUnused(Threads());
  return {};
}

Status ProcessReport(int32_t timeout_ms) {
  if (timeout_ms == 0 || timeout_ms < -1) {
    return InvalidRuntimeParam(fmt::format(
        "argument timeout is {} ms; expected -1 (wait for ever) or more than 0.", timeout_ms));
  }
  if (CallbackScope::IsOpen()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID, "EE1018",
                  "called by a host function or callback; expected no such call in it.");
  }
  std::shared_ptr<ReportQueue> queue;
  {
    const std::lock_guard lock(Threads().mutex);
    const auto it = Threads().queues.find(ThisThreadId());
    if (it == Threads().queues.end()) return ThreadNotSubscribed();
    queue = it->second;
  }
  const auto deadline = ReportQueue::Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    std::shared_ptr<Ticket> ticket;
    MLMARGIN_RETURN_IF_ERROR(queue->Take(timeout_ms, deadline, &ticket));
    if (ticket->RunOnReportThread()) return {};
  }
}

}  // namespace

void ReleaseReportThread(Stream& stream) {
  std::shared_ptr<ReportQueue> queue;
  {
    const std::lock_guard lock(stream.callback_binding().mutex);
    stream.callback_binding().closed = true;
    queue.swap(stream.callback_binding().report_queue);
  }
  if (queue == nullptr) return;
  queue->CountSubscriptions(-1);
  const std::lock_guard lock(Threads().mutex);
  ForgetUnused(Threads());
}

}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(fn);
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    return LaunchHostFunction(*found, fn, args);
  });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(fn);
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
      return InvalidParam(
          fmt::format("argument blockType is {}; expected ACL_CALLBACK_NO_BLOCK "
                      "(0) or ACL_CALLBACK_BLOCK (1).",
                      static_cast<int>(blockType)));
    }
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    return LaunchCallback(*found, fn, userData, blockType);
  });
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    return Subscribe(threadId, *found);
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    return Unsubscribe(threadId, *found);
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return ApiCall(__func__, [&] { return ProcessReport(timeout); });
}
