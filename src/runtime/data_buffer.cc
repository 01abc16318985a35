// SPDX-License-Identifier: Apache-2.0
// Data buffers: handles of an address and a size, which they do not own.
#include <fmt/core.h>

#include <memory>

#include "runtime/c_api.h"
#include "runtime/handle_table.h"
#include "runtime/never_destroyed.h"

namespace mlmargin::runtime {
namespace {

// Immutable; an update puts another one behind the handle.
struct DataBuffer {
  void* data;
  size_t bytes;
};

HandleTable<const DataBuffer>& Buffers() {
  static NeverDestroyed<HandleTable<const DataBuffer>> buffers;
  return buffers.get();
}

Status CheckContent(const void* data, size_t size) {
  if (data != nullptr || size == 0) return {};
  return InvalidParam(
      fmt::format("argument size is {}, but data is null; expected 0 with a null data.", size));
}

Status NoSuchBuffer(const aclDataBuffer* handle) {
  if (handle == nullptr) return NullPointer("dataBuffer");
  return InvalidParam(
      fmt::format("argument dataBuffer is {}, which is no data buffer or one that "
                  "was destroyed.",
                  static_cast<const void*>(handle)));
}

// What is behind the handle, or nothing, with a report, when there is no such buffer.
DataBuffer Content(const char* function, const aclDataBuffer* handle) {
  DataBuffer content = {};
  ApiCall(function, [&] {
    const std::shared_ptr<const DataBuffer> buffer = Buffers().Find(handle);
    if (buffer == nullptr) return NoSuchBuffer(handle);
    content = *buffer;
    return Status();
  });
  return content;
}

}  // namespace
}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  aclDataBuffer* handle = nullptr;
  ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckContent(data, size));
    handle = static_cast<aclDataBuffer*>(
        Buffers().Insert(std::make_shared<const DataBuffer>(DataBuffer{data, size})));
    return Status();
  });
  return handle;
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return ApiCall(__func__, [&] {
    return Buffers().Remove(dataBuffer) == nullptr ? NoSuchBuffer(dataBuffer) : Status();
  });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return ApiCall(__func__, [&] {
    if (dataBuffer == nullptr) return NoSuchBuffer(dataBuffer);
    MLMARGIN_RETURN_IF_ERROR(CheckContent(data, size));
    const bool live =
        Buffers().Replace(dataBuffer, std::make_shared<const DataBuffer>(DataBuffer{data, size}));
    return live ? Status() : NoSuchBuffer(dataBuffer);
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  return Content(__func__, dataBuffer).data;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return static_cast<uint32_t>(Content(__func__, dataBuffer).bytes);
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return Content(__func__, dataBuffer).bytes;
}
