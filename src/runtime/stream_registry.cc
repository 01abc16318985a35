// SPDX-License-Identifier: Apache-2.0
// The streams of the process: their number, their handles, and what concerns several of them.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "acl/acl.h"
#include "runtime/context.h"
#include "runtime/debug_settings.h"
#include "runtime/device_quota.h"
#include "runtime/errors.h"
#include "runtime/event.h"
#include "runtime/never_destroyed.h"
#include "runtime/race_check.h"
#include "runtime/stream.h"

namespace mlmargin::runtime {
namespace {

constexpr uint32_t kMaxStreamsPerDevice = 1984;  // As on newer products.

DeviceQuota& StreamQuota() {
  static NeverDestroyed<DeviceQuota> quota(kMaxStreamsPerDevice);
  return quota.get();
}

int32_t NextStreamId() {
  static std::atomic<uint32_t> next = 0;
  return static_cast<int32_t>(next.fetch_add(1, std::memory_order_relaxed) & 0x7fffffffU);
}

}  // namespace

Stream::Stream(const std::shared_ptr<Context>& context, uint32_t priority, uint32_t flags)
    : id_(NextStreamId()),
      device_id_(context->device_id()),
      priority_(priority),
      flags_(flags),
      context_(context) {}

Stream::~Stream() {
  if (RaceCheckIsOn()) ForgetStream(id_);
  ReleaseSlot();
}

Status Stream::Create(const std::shared_ptr<Context>& context, uint32_t priority, uint32_t flags,
                      std::shared_ptr<Stream>* stream) {
  DeviceStartTime();
  std::shared_ptr<Stream> made(new Stream(context, priority, flags));
  if (!StreamQuota().Take(context->device_id())) {
    return Status(
        ACL_ERROR_RT_NO_STREAM_RESOURCE, "EE1023",
        fmt::format("device {} has {} streams already, the most it can have; destroy some "
                    "first.",
                    context->device_id(), kMaxStreamsPerDevice));
  }
  made->holds_slot_.store(true, std::memory_order_relaxed);
  *stream = std::move(made);
  return {};
}

void Stream::ReleaseSlot() {
  if (holds_slot_.exchange(false, std::memory_order_relaxed)) StreamQuota().Give(device_id_);
}

bool Stream::InContext(const std::shared_ptr<Context>& context) const {
  return !context_.owner_before(context) && !context.owner_before(context_);
}

Status FindStream(aclrtStream handle, std::shared_ptr<Stream>* stream) {
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
  if (handle == nullptr) {
    *stream = context->default_stream();
    return {};
  }
  std::shared_ptr<Stream> found = Streams().Find(handle);
  if (found == nullptr) return InvalidHandle("stream", "stream", handle);
  if (!found->InContext(context)) {
    return Status(ACL_ERROR_RT_STREAM_CONTEXT, "EE1011",
                  fmt::format("argument stream is {}, which belongs to another context than the "
                              "current one of this thread; expected a stream of that.",
                              handle));
  }
  *stream = std::move(found);
  return {};
}

Status Enqueue(Stream& stream, std::unique_ptr<Task> task) {
  return stream.Push(TaskKind::kOperator, std::move(task));
}

void StopContext(const std::shared_ptr<Context>& context, int32_t code) {
  int32_t working = 0;
  context->stop_code().compare_exchange_strong(working, code);
  // One after the other, since a list of them would want memory.
  const auto works = [&](const Stream& stream) {
    return stream.InContext(context) && !stream.IsStopped();
  };
  while (const std::shared_ptr<Stream> stream = Streams().FindIf(works)) stream->Stop(code);
}

uint32_t AvailableStreams(int32_t device_id) { return StreamQuota().Available(device_id); }

std::atomic<uint32_t>& OpExecuteTimeoutSeconds() {
  static std::atomic<uint32_t> seconds = 0;
  return seconds;
}

std::atomic<uint32_t>& OpWaitTimeoutSeconds() {
  static std::atomic<uint32_t> seconds = 0;
  return seconds;
}

}  // namespace mlmargin::runtime
