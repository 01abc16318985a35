// SPDX-License-Identifier: Apache-2.0
#include "runtime/context.h"

#include <fmt/core.h>

#include "acl/acl.h"
#include "runtime/init.h"
#include "runtime/never_destroyed.h"
#include "runtime/thread_state.h"

namespace mlmargin::runtime {

HandleTable<Context>& Contexts() {
  static NeverDestroyed<HandleTable<Context>> contexts;
  return contexts.get();
}

HandleTable<Stream>& Streams() {
  static NeverDestroyed<HandleTable<Stream>> streams;
  return streams.get();
}

Status Context::Create(int32_t device_id, Kind kind, std::shared_ptr<Context>* context) {
  auto made = std::make_shared<Context>();
  made->device_id_ = device_id;
  made->kind_ = kind;
  MLMARGIN_RETURN_IF_ERROR(
      Stream::Create(made, /*priority=*/0, /*flags=*/0, &made->default_stream_));
  made->handle_ = Contexts().Insert(made);
  try {
    made->default_stream_handle_ = Streams().Insert(made->default_stream_);
  } catch (...) {  // Out of memory.
    Contexts().Remove(made->handle_);
    throw;
  }
  *context = std::move(made);
  return {};
}

std::optional<int64_t> Context::option(size_t index) const {
  const std::lock_guard lock(options_mutex_);
  return options_[index];
}

void Context::set_option(size_t index, int64_t value) {
  const std::lock_guard lock(options_mutex_);
  options_[index] = value;
}

void Context::Release(Stream::CloseMode mode) {
  if (released_.exchange(true, std::memory_order_acq_rel)) return;
  const std::shared_ptr<Context> self = shared_from_this();
  const auto streams =
      Streams().RemoveIf([&](const Stream& stream) { return stream.InContext(self); });
  for (const auto& [handle, stream] : streams) stream->Close(mode);
}

Status CurrentContext(std::shared_ptr<Context>* context) {
  void* const handle = ThisThread().current_context;
  std::shared_ptr<Context> found = handle == nullptr ? nullptr : Contexts().Find(handle);
  if (found != nullptr && !found->released()) {
    *context = std::move(found);
    return {};
  }
  const char* text = "no device or context is set for this thread; call aclrtSetDevice first.";
  if (!IsInitialized()) {
    text = "no device or context is set for this thread; call aclInit, then aclrtSetDevice first.";
  } else if (handle != nullptr) {
    text =
        "the context that was current for this thread was destroyed, or its device was reset; call "
        "aclrtSetDevice or aclrtSetCurrentContext first.";
  }
  return Status(ACL_ERROR_RT_CONTEXT_NULL, "EE1010", text);
}

void SetCurrentContextHandle(void* handle) { ThisThread().current_context = handle; }

}  // namespace mlmargin::runtime
