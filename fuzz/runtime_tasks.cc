// SPDX-License-Identifier: Apache-2.0
// Calls for streams, events, copies in a stream, host functions and callbacks.
#include <pthread.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "runtime_world.h"

namespace mlmargin::fuzz {
namespace {

// ---- Host functions and callbacks ----

void Nothing(void*) {}
void Doze(void*) { std::this_thread::sleep_for(std::chrono::microseconds(50)); }
void Throw(void*) { throw std::runtime_error("of the fuzzer"); }
// A wait for its own stream, whose handle it gets, is refused. The default stream is left out: by
// null another context's may be meant here.
void WaitForSelf(void* stream) {
  if (stream == nullptr || aclrtSetDevice(0) != 0) return;
  const int32_t code = aclrtSynchronizeStream(stream);
  if (code != 107000 && code != 107002 && code != 107017 && code != 107003) {
    Fail("a host function may wait for its own stream: " + std::to_string(code));
  }
}
void ProcessInside(void*) {
  if (aclrtProcessReport(1) != 107000) Fail("a callback may process callbacks");
}

uint64_t ThreadId(Actor& a) {
  const auto self = static_cast<uint64_t>(pthread_self());
  return a.world.calm ? a.world.report_thread : a.Of({a.world.report_thread, self});
}

uint32_t EventFlags(Actor& a) {
  return a.Of<uint32_t>({ACL_EVENT_SYNC, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, ACL_EVENT_TIME_LINE,
                         ACL_EVENT_CAPTURE_STREAM_PROGRESS, 0, ACL_EVENT_IPC, 0x80});
}

void* Stream(Actor& a) { return a.Handle(a.world.streams); }
void* Event(Actor& a) { return a.Handle(a.world.events); }

int32_t Record(Actor& a) {
  void* const event = Event(a);
  const int32_t code = aclrtRecordEvent(event, Stream(a));
  if (code == 0) a.world.NoteRecorded(event);
  return code;
}

int32_t WaitEvent(Actor& a) {
  void* const event = Event(a);
  if (a.world.calm && !a.world.WasRecorded(event)) return kNotCalled;
  return aclrtStreamWaitEvent(Stream(a), event);
}

int32_t CopyTo(Actor& a) {
  return aclrtMemcpyAsync(a.Device(), kBlockBytes, a.Host(), a.Of<size_t>({0, 1, kBlockBytes}),
                          a.Of({ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE,
                                ACL_MEMCPY_DEVICE_TO_DEVICE}),
                          Stream(a));
}

int32_t LaunchHost(Actor& a) {
  void* const stream = Stream(a);
  return aclrtLaunchHostFunc(
      stream, a.Of<aclrtHostFunc>({Nothing, Doze, Throw, WaitForSelf, ProcessInside, nullptr}),
      stream);
}

// ---- Codes ----

// Of calls that queue work: dropped, or the context was stopped by a failure.
#define QUEUE_CODES 107023, 107019, 507000, 207005
// Of calls that wait: a task's failure, or its work was dropped.
#define WAIT_CODES 107023, 107019, 507000

// Deprecated ones are in service.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

const Operation kOperations[] = {
    // ---- Streams ----
    {"aclrtCreateStream",
     [](Actor& a) { return a.Keep(a.world.streams, aclrtCreateStream); },
     {207008}},
    {"aclrtCreateStreamWithConfig",
     [](Actor& a) {
       return a.Keep(a.world.streams, [&](void** made) {
         return aclrtCreateStreamWithConfig(made, a.Of({0u, 7u, 8u}), a.Of({0u, 1u, 4u, 0x100u}));
       });
     },
     {207000, 207008}},
    {"aclrtCtxGetCurrentDefaultStream",
     [](Actor& a) { return a.Keep(a.world.streams, aclrtCtxGetCurrentDefaultStream); },
     {}},
    {"aclrtDestroyStream",
     [](Actor& a) { return a.world.calm ? aclrtDestroyStream(Stream(a)) : kNotCalled; },
     {}},
    {"aclrtDestroyStreamForce", [](Actor& a) { return aclrtDestroyStreamForce(Stream(a)); }, {}},
    {"aclrtSynchronizeStream",
     [](Actor& a) { return a.world.calm ? aclrtSynchronizeStream(Stream(a)) : kNotCalled; },
     {WAIT_CODES}},
    {"aclrtSynchronizeStreamWithTimeout",
     [](Actor& a) { return aclrtSynchronizeStreamWithTimeout(Stream(a), a.Timeout()); },
     {WAIT_CODES, 507046}},
    {"aclrtSynchronizeDevice",
     [](Actor& a) { return a.world.calm ? aclrtSynchronizeDevice() : kNotCalled; },
     {WAIT_CODES}},
    {"aclrtSynchronizeDeviceWithTimeout",
     [](Actor& a) { return aclrtSynchronizeDeviceWithTimeout(a.Timeout()); },
     {WAIT_CODES, 507046}},
    {"aclrtStreamQuery",
     [](Actor& a) {
       aclrtStreamStatus status;
       return aclrtStreamQuery(Stream(a), &status);
     },
     {}},
    {"aclrtStreamAbort", [](Actor& a) { return aclrtStreamAbort(Stream(a)); }, {}},
    {"aclrtStreamGetId",
     [](Actor& a) {
       int32_t id = 0;
       return aclrtStreamGetId(Stream(a), a.Of<int32_t*>({&id, nullptr}));
     },
     {}},
    {"aclrtSetStreamFailureMode",
     [](Actor& a) {
       return aclrtSetStreamFailureMode(Stream(a), a.Of<uint64_t>({0, 1, 2}));
     },
     {207000}},
    {"aclrtSetOpWaitTimeout",
     [](Actor& a) {
       return aclrtSetOpWaitTimeout(a.Of({0u, 1u}));
     },
     {100001}},
    {"aclrtSetOpExecuteTimeOut",
     [](Actor& a) {
       return aclrtSetOpExecuteTimeOut(a.Of({0u, 1u}));
     },
     {100001}},
    // ---- Events ----
    {"aclrtCreateEvent",
     [](Actor& a) { return a.Keep(a.world.events, aclrtCreateEvent); },
     {207007}},
    {"aclrtCreateEventWithFlag",
     [](Actor& a) {
       return a.Keep(a.world.events,
                     [&](void** made) { return aclrtCreateEventWithFlag(made, EventFlags(a)); });
     },
     {207000, 207007}},
    {"aclrtCreateEventExWithFlag",
     [](Actor& a) {
       return a.Keep(a.world.events,
                     [&](void** made) { return aclrtCreateEventExWithFlag(made, EventFlags(a)); });
     },
     {207000, 207007}},
    {"aclrtDestroyEvent", [](Actor& a) { return aclrtDestroyEvent(Event(a)); }, {}},
    {"aclrtRecordEvent", Record, {QUEUE_CODES}},
    {"aclrtResetEvent",
     [](Actor& a) { return a.world.calm ? kNotCalled : aclrtResetEvent(Event(a), Stream(a)); },
     {QUEUE_CODES, 207000}},
    {"aclrtStreamWaitEvent", WaitEvent, {QUEUE_CODES, 207000}},
    {"aclrtQueryEvent",
     [](Actor& a) {
       aclrtEventStatus status;
       return aclrtQueryEvent(Event(a), &status);
     },
     {107023, 207000}},
    {"aclrtQueryEventStatus",
     [](Actor& a) {
       aclrtEventRecordedStatus status;
       return aclrtQueryEventStatus(Event(a), &status);
     },
     {107023}},
    {"aclrtQueryEventWaitStatus",
     [](Actor& a) {
       aclrtEventWaitStatus status;
       return aclrtQueryEventWaitStatus(Event(a), &status);
     },
     {207000}},
    {"aclrtSynchronizeEvent",
     [](Actor& a) { return a.world.calm ? aclrtSynchronizeEvent(Event(a)) : kNotCalled; },
     {WAIT_CODES}},
    {"aclrtSynchronizeEventWithTimeout",
     [](Actor& a) { return aclrtSynchronizeEventWithTimeout(Event(a), a.Timeout()); },
     {WAIT_CODES, 507047}},
    {"aclrtEventElapsedTime",
     [](Actor& a) {
       float ms = 0;
       return aclrtEventElapsedTime(&ms, Event(a), Event(a));
     },
     {107006, 107023, 507000}},
    {"aclrtEventGetTimestamp",
     [](Actor& a) {
       uint64_t time = 0;
       return aclrtEventGetTimestamp(Event(a), &time);
     },
     {107006, 107023, 507000}},
    // ---- Copies ----
    {"aclrtMemcpyAsync to the device", CopyTo, {QUEUE_CODES}},
    {"aclrtMemcpyAsync from the device",
     [](Actor& a) {
       return aclrtMemcpyAsync(a.Host(), kBlockBytes, a.Device(), a.Of<size_t>({1, kBlockBytes}),
                               ACL_MEMCPY_DEVICE_TO_HOST, Stream(a));
     },
     {QUEUE_CODES}},
    {"aclrtMemcpyAsync on the host",
     [](Actor& a) {
       return aclrtMemcpyAsync(
           a.Host(), kBlockBytes, a.world.pinned[0], 8,
           a.Of({ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_DEFAULT, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE}),
           Stream(a));
     },
     {QUEUE_CODES, 207000}},
    {"aclrtMemcpy2dAsync",
     [](Actor& a) {
       return aclrtMemcpy2dAsync(a.Device(), 64, a.Host(), 64, a.Of<size_t>({8, 64, 5000001}),
                                 a.Of<size_t>({4, 64, 0}), ACL_MEMCPY_HOST_TO_DEVICE, Stream(a));
     },
     {QUEUE_CODES}},
    {"aclrtMemsetAsync",
     [](Actor& a) {
       return aclrtMemsetAsync(a.Device(), kBlockBytes, 5,
                               a.Of<size_t>({1, kBlockBytes, kBlockBytes + 1}), Stream(a));
     },
     {QUEUE_CODES}},
    // ---- Host functions and callbacks ----
    {"aclrtLaunchHostFunc", LaunchHost, {QUEUE_CODES, 107011}},
    {"aclrtLaunchCallback",
     [](Actor& a) {
       return aclrtLaunchCallback(a.Of<aclrtCallback>({Nothing, Doze, ProcessInside, nullptr}),
                                  nullptr, a.Number<aclrtCallbackBlockType>(1), Stream(a));
     },
     {QUEUE_CODES, 107015}},
    {"aclrtSubscribeReport",
     [](Actor& a) { return aclrtSubscribeReport(ThreadId(a), Stream(a)); },
     {107011, 207012}},
    {"aclrtUnSubscribeReport",
     [](Actor& a) {
       return aclrtUnSubscribeReport(a.Of<uint64_t>({ThreadId(a), 12345}), Stream(a));
     },
     {107011, 107012}},
    {"aclrtProcessReport",
     [](Actor& a) {
       return aclrtProcessReport(a.Of({1, 0, -2}));
     },
     {107012, 507012}},
};

#pragma GCC diagnostic pop
#undef QUEUE_CODES
#undef WAIT_CODES

}  // namespace

std::span<const Operation> TaskOperations() { return kOperations; }

}  // namespace mlmargin::fuzz
