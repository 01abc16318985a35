// SPDX-License-Identifier: Apache-2.0
// Entry points for copies and fills that are done on return. The asynchronous ones are in
// async_copy.cc.
#include <cstring>
#include <memory>

#include "runtime/c_api.h"
#include "runtime/context.h"
#include "runtime/copy.h"
#include "runtime/debug_settings.h"
#include "runtime/race_check.h"

namespace mlmargin::runtime {
namespace {

void CopyNow(const char* function, const CheckedCopy& copy) {
  if (RaceCheckIsOn() && copy.width != 0) CheckHostAccess(function, AccessesOf(copy));
  RunCopy(copy);
}

}  // namespace
}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    CheckedCopy copy;
    MLMARGIN_RETURN_IF_ERROR(CheckCopy(dst, destMax, src, count, kind, &copy));
    CopyNow("aclrtMemcpy", copy);
    return Status();
  });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    CheckedCopy copy;
    MLMARGIN_RETURN_IF_ERROR(CheckCopy2d(dst, dpitch, src, spitch, width, height, kind,
                                         Copy2dKinds::kHostAndDevice, &copy));
    CopyNow("aclrtMemcpy2d", copy);
    return Status();
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    std::shared_ptr<const Block> block;
    MLMARGIN_RETURN_IF_ERROR(CheckMemset(devPtr, maxCount, count, &block));
    if (count == 0) return Status();
    if (RaceCheckIsOn()) {
      const Access access = {"devPtr", devPtr, count, /*writes=*/true, block};
      CheckHostAccess("aclrtMemset", {&access, 1});
    }
    std::memset(BytesOf(block, devPtr), value & 0xFF, count);
    return Status();
  });
}
