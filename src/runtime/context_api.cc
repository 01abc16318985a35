// SPDX-License-Identifier: Apache-2.0
// Entry points for contexts.
#include <fmt/core.h>

#include <memory>

#include "runtime/c_api.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/settings.h"
#include "runtime/thread_state.h"

namespace mlmargin::runtime {
namespace {

Status ContextError(std::string text) {
  return Status(ACL_ERROR_RT_CONTEXT_NULL, "EE1010", std::move(text));
}

// A live context by the handle that the caller gave. A stale one is told from a released one.
Status FindContext(aclrtContext handle, std::shared_ptr<Context>* context) {
  if (handle == nullptr) return NullPointer("context");
  *context = Contexts().Find(handle);
  if (*context != nullptr) return {};
  return InvalidHandle("context", "context", handle);
}

Status DestroyContext(aclrtContext handle) {
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(FindContext(handle, &context));
  if (context->kind() == Context::Kind::kPrimary) {
    return ContextError(
        fmt::format("argument context is {}, the default context of device {}; "
                    "only aclrtResetDevice ends it.",
                    handle, context->device_id()));
  }
  if (Contexts().Remove(handle) == nullptr) return InvalidHandle("context", "context", handle);
  if (ThisThread().current_context == handle) SetCurrentContextHandle(nullptr);
  context->Release(Stream::CloseMode::kDrain);
  return {};
}

Status MakeCurrent(aclrtContext handle) {
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(FindContext(handle, &context));
  if (context->released()) {
    return ContextError(
        fmt::format("argument context is {}, whose device {} was reset; expected a "
                    "context of a device that is set.",
                    handle, context->device_id()));
  }
  SetCurrentContextHandle(handle);
  return {};
}

}  // namespace
}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(context);
    std::shared_ptr<Context> made;
    MLMARGIN_RETURN_IF_ERROR(CreateExplicitContext(deviceId, &made));
    SetCurrentContextHandle(made->handle());
    *context = made->handle();
    return Status();
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return ApiCall(__func__, [&] { return DestroyContext(context); });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return ApiCall(__func__, [&] { return MakeCurrent(context); });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(context);
    std::shared_ptr<Context> current;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&current));
    *context = current->handle();
    return Status();
  });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(stream);
    std::shared_ptr<Context> current;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&current));
    *stream = current->default_stream_handle();
    return Status();
  });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(active);
    MLMARGIN_RETURN_IF_ERROR(CheckDeviceId(deviceId));
    if (flags != nullptr) *flags = 0;  // Reserved.
    *active = IsDeviceSetUp(deviceId) ? 1 : 0;
    return Status();
  });
}
