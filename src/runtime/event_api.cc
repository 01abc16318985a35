// SPDX-License-Identifier: Apache-2.0
// Entry points for events.
#include <fmt/core.h>

#include <chrono>
#include <memory>

#include "runtime/c_api.h"
#include "runtime/context.h"
#include "runtime/event.h"

namespace mlmargin::runtime {
namespace {

constexpr uint32_t kStandAloneFlags =
    ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC;
constexpr uint32_t kServedFlags =
    ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;

Status CheckFlags(uint32_t flags) {
  const uint32_t alone = flags & kStandAloneFlags;
  const bool several_alone = (alone & (alone - 1)) != 0;
  if (flags == 0 || (flags & ~(kServedFlags | kStandAloneFlags)) != 0 || several_alone ||
      (alone != 0 && flags != alone)) {
    return InvalidRuntimeParam(
        fmt::format("argument flag is {:#x}; expected an OR of ACL_EVENT_SYNC, "
                    "ACL_EVENT_CAPTURE_STREAM_PROGRESS and ACL_EVENT_TIME_LINE, or one other "
                    "ACL_EVENT_* flag alone.",
                    flags));
  }
  if (alone == 0) return {};
  return NotSupported(
      fmt::format("argument flag is {:#x}: events of ACL_EVENT_DEVICE_USE_ONLY, ACL_EVENT_EXTERNAL "
                  "and ACL_EVENT_IPC are not available on a CPU device.",
                  flags));
}

Status CreateEvent(Event::Kind kind, uint32_t flags, aclrtEvent* handle) {
  if (handle == nullptr) return NullPointer("event");
  if (kind != Event::Kind::kPlain) MLMARGIN_RETURN_IF_ERROR(CheckFlags(flags));
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
  std::shared_ptr<Event> event;
  MLMARGIN_RETURN_IF_ERROR(Event::Create(kind, flags, context->device_id(), &event));
  *handle = Events().Insert(std::move(event));
  return {};
}

// Events are used under some context, of whatever device.
Status FindEvent(aclrtEvent handle, const char* argument, std::shared_ptr<Event>* event) {
  if (handle == nullptr) return NullPointer(argument);
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
  *event = Events().Find(handle);
  return *event == nullptr ? InvalidHandle(argument, "event", handle) : Status();
}

Status FindBoth(aclrtEvent event_handle, aclrtStream stream_handle, std::shared_ptr<Event>* event,
                std::shared_ptr<Stream>* stream) {
  MLMARGIN_RETURN_IF_ERROR(FindEvent(event_handle, "event", event));
  return FindStream(stream_handle, stream);
}

}  // namespace
}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

aclError aclrtCreateEvent(aclrtEvent* event) {
  return ApiCall(__func__, [&] { return CreateEvent(Event::Kind::kPlain, 0, event); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return ApiCall(__func__, [&] { return CreateEvent(Event::Kind::kWithFlag, flag, event); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return ApiCall(__func__, [&] { return CreateEvent(Event::Kind::kEx, flag, event); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(event);
    const std::shared_ptr<Event> removed = Events().Remove(event);
    return removed == nullptr ? InvalidHandle("event", "event", event) : Status();
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Event> found;
    std::shared_ptr<Stream> found_stream;
    MLMARGIN_RETURN_IF_ERROR(FindBoth(event, stream, &found, &found_stream));
    return found->Record(*found_stream);
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Event> found;
    std::shared_ptr<Stream> found_stream;
    MLMARGIN_RETURN_IF_ERROR(FindBoth(event, stream, &found, &found_stream));
    return found->Reset(*found_stream);
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Event> found;
    std::shared_ptr<Stream> found_stream;
    MLMARGIN_RETURN_IF_ERROR(FindBoth(event, stream, &found, &found_stream));
    return found->WaitIn(*found_stream);
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(status);
    std::shared_ptr<Event> found;
    MLMARGIN_RETURN_IF_ERROR(FindEvent(event, "event", &found));
    MLMARGIN_RETURN_IF_ERROR(found->CheckQueryable());
    bool complete = false;
    MLMARGIN_RETURN_IF_ERROR(found->QueryRecorded(&complete));
    *status = complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return Status();
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(status);
    std::shared_ptr<Event> found;
    MLMARGIN_RETURN_IF_ERROR(FindEvent(event, "event", &found));
    bool complete = false;
    MLMARGIN_RETURN_IF_ERROR(found->QueryRecorded(&complete));
    *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return Status();
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(status);
    std::shared_ptr<Event> found;
    MLMARGIN_RETURN_IF_ERROR(FindEvent(event, "event", &found));
    MLMARGIN_RETURN_IF_ERROR(found->CheckQueryable());
    *status =
        found->HasPendingWaits() ? ACL_EVENT_WAIT_STATUS_NOT_READY : ACL_EVENT_WAIT_STATUS_COMPLETE;
    return Status();
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Event> found;
    MLMARGIN_RETURN_IF_ERROR(FindEvent(event, "event", &found));
    return found->Synchronize(-1);
  });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckTimeout(timeout));
    std::shared_ptr<Event> found;
    MLMARGIN_RETURN_IF_ERROR(FindEvent(event, "event", &found));
    return found->Synchronize(timeout);
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(ms);
    std::shared_ptr<Event> start;
    std::shared_ptr<Event> end;
    MLMARGIN_RETURN_IF_ERROR(FindEvent(startEvent, "startEvent", &start));
    MLMARGIN_RETURN_IF_ERROR(FindEvent(endEvent, "endEvent", &end));
    Stream::Clock::time_point start_time;
    Stream::Clock::time_point end_time;
    MLMARGIN_RETURN_IF_ERROR(start->CompletionTime("startEvent", &start_time));
    MLMARGIN_RETURN_IF_ERROR(end->CompletionTime("endEvent", &end_time));
    *ms = std::chrono::duration<float, std::milli>(end_time - start_time).count();
    return Status();
  });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(timestamp);
    std::shared_ptr<Event> found;
    MLMARGIN_RETURN_IF_ERROR(FindEvent(event, "event", &found));
    Stream::Clock::time_point time;
    MLMARGIN_RETURN_IF_ERROR(found->CompletionTime("event", &time));
    *timestamp = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(time - DeviceStartTime()).count());
    return Status();
  });
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(eventId);
    std::shared_ptr<Event> found;
    MLMARGIN_RETURN_IF_ERROR(FindEvent(event, "event", &found));
    *eventId = found->id();
    return Status();
  });
}

aclError aclrtGetEventAvailNum(uint32_t* eventCount) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(eventCount);
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    *eventCount = AvailableEvents(context->device_id());
    return Status();
  });
}
