// SPDX-License-Identifier: Apache-2.0
// Entry points for device memory.
#include <fmt/core.h>

#include <memory>

#include "runtime/c_api.h"
#include "runtime/context.h"
#include "runtime/memory.h"

namespace mlmargin::runtime {
namespace {

Status CheckSize(size_t size) {
  if (size != 0) return {};
  return InvalidParam("argument size is 0; expected 1 or more bytes.");
}

// A CPU has one kind of memory, so the band width bits change nothing; memory that the host
// cannot write it does not have.
Status CheckPolicy(aclrtMemMallocPolicy policy) {
  if ((static_cast<int>(policy) & ACL_MEM_ACCESS_USER_SPACE_READONLY) == 0) return {};
  return NotSupported(
      "argument policy has ACL_MEM_ACCESS_USER_SPACE_READONLY; device memory of a "
      "CPU device is always writable for the host.");
}

// Only a wish for ordinary pages rules out huge ones; P2P or not is all one to the host.
Pages PagesFor(aclrtMemMallocPolicy policy) {
  constexpr int kPageBits = 0xFF;
  const int pages = static_cast<int>(policy) & kPageBits;
  const bool ordinary =
      pages == ACL_MEM_MALLOC_NORMAL_ONLY || pages == ACL_MEM_MALLOC_NORMAL_ONLY_P2P;
  return ordinary ? Pages::kOrdinary : Pages::kHuge;
}

Status Malloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  MLMARGIN_RETURN_IF_NULL(devPtr);
  MLMARGIN_RETURN_IF_ERROR(CheckSize(size));
  MLMARGIN_RETURN_IF_ERROR(CheckPolicy(policy));
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
  return AllocateDevice(size, PagesFor(policy), context->device_id(), devPtr);
}

Status CheckCachedPolicy(aclrtMemMallocPolicy policy) {
  switch (policy) {
    case ACL_MEM_MALLOC_HUGE_FIRST:
    case ACL_MEM_MALLOC_HUGE_ONLY:
    case ACL_MEM_MALLOC_NORMAL_ONLY:
    case ACL_MEM_MALLOC_HUGE1G_ONLY:
      return {};
    default:
      return InvalidParam(
          fmt::format("argument policy is {}; expected 0, 1, 2 or 6.", static_cast<int>(policy)));
  }
}

// Caches of the host need no care, but the range must be right all the same.
Status CheckCacheRange(void* devPtr, size_t size) {
  MLMARGIN_RETURN_IF_NULL(devPtr);
  MLMARGIN_RETURN_IF_ERROR(CheckSize(size));
  std::shared_ptr<Context> context;
  MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
  if (FindDeviceMemory(devPtr, size) != nullptr) return {};
  return InvalidRuntimeParam(fmt::format(
      "argument devPtr is {} with {} bytes; expected a range inside one device allocation.", devPtr,
      size));
}

// 0 and 0 for kinds that a CPU lacks.
Status MemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  switch (attr) {
    case ACL_DDR_MEM:
    case ACL_HBM_MEM:
    case ACL_DDR_MEM_HUGE:
    case ACL_DDR_MEM_NORMAL:
    case ACL_HBM_MEM_HUGE:
    case ACL_HBM_MEM_NORMAL:
    case ACL_MEM_NORMAL:
    case ACL_MEM_HUGE:
      *free = FreeDeviceBytes();
      *total = TotalDeviceBytes();
      return {};
    case ACL_DDR_MEM_P2P_HUGE:
    case ACL_DDR_MEM_P2P_NORMAL:
    case ACL_HBM_MEM_P2P_HUGE:
    case ACL_HBM_MEM_P2P_NORMAL:
    case ACL_HBM_MEM_HUGE1G:
    case ACL_HBM_MEM_P2P_HUGE1G:
    case ACL_MEM_HUGE1G:
    case ACL_MEM_P2P_NORMAL:
    case ACL_MEM_P2P_HUGE:
    case ACL_MEM_P2P_HUGE1G:
      *free = 0;
      *total = 0;
      return {};
    default:
      return InvalidParam(fmt::format("argument attr is {}; expected a value of aclrtMemAttr.",
                                      static_cast<int>(attr)));
  }
}

}  // namespace
}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return ApiCall(__func__, [&] { return Malloc(devPtr, size, policy); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return ApiCall(__func__, [&] { return Malloc(devPtr, size, policy); });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckCachedPolicy(policy));
    return Malloc(devPtr, size, policy);
  });
}

aclError aclrtFree(void* devPtr) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(devPtr);
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    return FreeBlock(devPtr, BlockKind::kDevice);
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(free);
    MLMARGIN_RETURN_IF_NULL(total);
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    return MemInfo(attr, free, total);
  });
}

aclError aclrtMemFlush(void* devPtr, size_t size) {
  return ApiCall(__func__, [&] { return CheckCacheRange(devPtr, size); });
}

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
  return ApiCall(__func__, [&] { return CheckCacheRange(devPtr, size); });
}
