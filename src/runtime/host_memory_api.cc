// SPDX-License-Identifier: Apache-2.0
// Entry points for pinned and registered host memory, and for asking what an address is.
#include <fmt/core.h>
#include <unistd.h>

#include <memory>

#include "runtime/c_api.h"
#include "runtime/context.h"
#include "runtime/memory.h"

namespace mlmargin::runtime {
namespace {

constexpr uintptr_t kRegisterAlignment = 4096;

Status CheckRegisterType(aclrtHostRegisterType type) {
  switch (type) {
    case ACL_HOST_REGISTER_MAPPED:
      return {};
    case ACL_HOST_REGISTER_IOMEMORY:
    case ACL_HOST_REGISTER_READONLY:
      return NotSupported(
          fmt::format("argument type is {}; only ACL_HOST_REGISTER_MAPPED (0) is "
                      "in service.",
                      static_cast<int>(type)));
    default:
      return InvalidParam(fmt::format("argument type is {}; expected ACL_HOST_REGISTER_MAPPED (0).",
                                      static_cast<int>(type)));
  }
}

Status HostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  MLMARGIN_RETURN_IF_NULL(ptr);
  MLMARGIN_RETURN_IF_NULL(devPtr);
  if (size == 0) return InvalidParam("argument size is 0; expected 1 or more bytes.");
  MLMARGIN_RETURN_IF_ERROR(CheckRegisterType(type));
  if (reinterpret_cast<uintptr_t>(ptr) % kRegisterAlignment != 0) {
    return InvalidRuntimeParam(
        fmt::format("argument ptr is {}; expected a multiple of {}.", ptr, kRegisterAlignment));
  }
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
  MLMARGIN_RETURN_IF_ERROR(RegisterHost(ptr, size, context->device_id()));
  *devPtr = ptr;
  return {};
}

// For the two calls that take a thing back and may come late: pinned memory and registrations
// need no device to go.
template <typename Release>
Status ReleaseLate(Release release) {
  const Status status = release();
  if (status.ok()) return {};
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
  return status;
}

Status HostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  MLMARGIN_RETURN_IF_NULL(pHost);
  MLMARGIN_RETURN_IF_NULL(pDevice);
  if (flag != 0) {
    return InvalidRuntimeParam(fmt::format("argument flag is {}; expected 0.", flag));
  }
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
  const std::shared_ptr<const Block> block = FindBlockAt(pHost);
  if (block == nullptr || block->kind() != BlockKind::kRegisteredHost) {
    return Status(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "EE1001",
                  fmt::format("argument pHost is {}; expected an address in memory that "
                              "aclrtHostRegister was called for.",
                              pHost));
  }
  *pDevice = pHost;
  return {};
}

aclrtPtrAttributes AttributesOf(const void* ptr) {
  aclrtPtrAttributes attributes = {};
  attributes.location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  const std::shared_ptr<const Block> block = FindBlockAt(ptr);
  if (block == nullptr) return attributes;
  const bool device = block->kind() == BlockKind::kDevice;
  attributes.location.type = device ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
  attributes.location.id = device ? static_cast<uint32_t>(block->device_id()) : 0;
  attributes.pageSize = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  return attributes;
}

}  // namespace
}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(hostPtr);
    if (size == 0) return InvalidParam("argument size is 0; expected 1 or more bytes.");
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    return AllocatePinned(size, context->device_id(), hostPtr);
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(hostPtr);
    return ReleaseLate([&] { return FreeBlock(hostPtr, BlockKind::kPinnedHost); });
  });
}

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return ApiCall(__func__, [&] { return HostRegister(ptr, size, type, devPtr); });
}

aclError aclrtHostUnregister(void* ptr) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(ptr);
    return ReleaseLate([&] { return UnregisterHost(ptr); });
  });
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  return ApiCall(__func__, [&] { return HostGetDevicePointer(pHost, pDevice, flag); });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(ptr);
    MLMARGIN_RETURN_IF_NULL(attributes);
    *attributes = AttributesOf(ptr);
    return Status();
  });
}
