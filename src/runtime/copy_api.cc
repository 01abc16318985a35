// SPDX-License-Identifier: Apache-2.0
// Entry points for copies and fills that are done on return. The asynchronous ones are in
// async_copy.cc.
#include <cstring>
#include <memory>

#include "runtime/c_api.h"
#include "runtime/context.h"
#include "runtime/copy.h"

using namespace mlmargin::runtime;

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    CheckedCopy copy;
    MLMARGIN_RETURN_IF_ERROR(CheckCopy(dst, destMax, src, count, kind, &copy));
    RunCopy(copy);
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
    RunCopy(copy);
    return Status();
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return ApiCall(__func__, [&] {
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    std::shared_ptr<const Block> block;
    MLMARGIN_RETURN_IF_ERROR(CheckMemset(devPtr, maxCount, count, &block));
    if (count != 0) std::memset(devPtr, value & 0xFF, count);
    return Status();
  });
}
