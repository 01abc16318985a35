// SPDX-License-Identifier: Apache-2.0
// Entry points for streams.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "runtime/c_api.h"
#include "runtime/context.h"
#include "runtime/stream.h"

namespace mlmargin::runtime {
namespace {

constexpr uint32_t kLowestPriority = 7;
// Promises of speed that every stream here keeps, and memory that it does not need.
constexpr uint32_t kServedFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_HUGE;
constexpr uint32_t kUnservedFlags =
    ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

Status CheckConfig(uint32_t priority, uint32_t flags) {
  if (priority > kLowestPriority) {
    return InvalidRuntimeParam(
        fmt::format("argument priority is {}; expected 0 (highest) to 7.", priority));
  }
  if ((flags & kUnservedFlags) != 0) {
    return NotSupported(fmt::format(
        "argument flag is {:#x}: streams with ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE or "
        "ACL_STREAM_DEVICE_USE_ONLY are not available on a CPU device.",
        flags));
  }
  if ((flags & ~kServedFlags) != 0) {
    Log(ACL_WARNING, "RUNTIME",
        fmt::format("aclrtCreateStreamWithConfig: argument flag is {:#x}; its unknown bits have no "
                    "effect.",
                    flags));
  }
  return {};
}

Status CreateStream(uint32_t priority, uint32_t flags, aclrtStream* handle) {
  if (handle == nullptr) return NullPointer("stream");
  MLMARGIN_RETURN_IF_ERROR(CheckConfig(priority, flags));
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
  std::shared_ptr<Stream> stream;
  MLMARGIN_RETURN_IF_ERROR(Stream::Create(context, priority, flags, &stream));
  void* const made = Streams().Insert(stream);
  // The context may have been released or stopped while the stream was not yet among its streams.
  if (context->released() && Streams().Remove(made) != nullptr) {
    stream->Close(Stream::CloseMode::kDrop);
    return CurrentContext(&context);
  }
  if (const int32_t code = context->stop_code().load(); code != 0) stream->Stop(code);
  *handle = made;
  return {};
}

Status DestroyStream(aclrtStream handle, Stream::CloseMode mode) {
  if (handle == nullptr) return NullPointer("stream");
  std::shared_ptr<Stream> stream;
  MLMARGIN_RETURN_IF_ERROR(FindStream(handle, &stream));
  const std::shared_ptr<Context> context = stream->context();
  if (context != nullptr && context->default_stream() == stream) {
    return InvalidParam(
        fmt::format("argument stream is {}, the default stream of its context; it "
                    "ends with the context.",
                    handle));
  }
  if (mode == Stream::CloseMode::kDrain) MLMARGIN_RETURN_IF_ERROR(stream->CheckNotInOwnCallback());
  stream = Streams().Remove(handle);
  if (stream == nullptr) return InvalidHandle("stream", "stream", handle);
  stream->Close(mode);
  return {};
}

Status StoreSeconds(std::atomic<uint32_t>& setting, uint32_t seconds) {
  MLMARGIN_RETURN_IF_ERROR(CheckInitialized());
  setting.store(seconds, std::memory_order_relaxed);
  return {};
}

}  // namespace
}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

aclError aclrtCreateStream(aclrtStream* stream) {
  return ApiCall(__func__, [&] { return CreateStream(/*priority=*/0, /*flags=*/0, stream); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return ApiCall(__func__, [&] { return CreateStream(priority, flag, stream); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return ApiCall(__func__, [&] { return DestroyStream(stream, Stream::CloseMode::kDrain); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return ApiCall(__func__, [&] { return DestroyStream(stream, Stream::CloseMode::kDrop); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    return found->Synchronize(-1);
  });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckTimeout(timeout));
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    return found->Synchronize(timeout);
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(status);
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    *status = found->IsIdle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return Status();
  });
}

aclError aclrtStreamAbort(aclrtStream stream) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    return found->Abort();
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(streamId);
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    *streamId = found->id();
    return Status();
  });
}

aclError aclrtGetStreamAvailableNum(uint32_t* streamCount) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(streamCount);
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    *streamCount = AvailableStreams(context->device_id());
    return Status();
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return ApiCall(__func__, [&] {
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
      return InvalidRuntimeParam(fmt::format(
          "argument mode is {}; expected ACL_CONTINUE_ON_FAILURE (0) or ACL_STOP_ON_FAILURE (1).",
          mode));
    }
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    return found->SetStopOnFailure(mode == ACL_STOP_ON_FAILURE);
  });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return ApiCall(__func__, [&] { return StoreSeconds(OpExecuteTimeoutSeconds(), timeout); });
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  return ApiCall(__func__, [&] { return StoreSeconds(OpWaitTimeoutSeconds(), timeout); });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(priority);
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    *priority = found->priority();
    return Status();
  });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(flags);
    std::shared_ptr<Stream> found;
    MLMARGIN_RETURN_IF_ERROR(FindStream(stream, &found));
    *flags = found->flags();
    return Status();
  });
}
