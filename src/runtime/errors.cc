// SPDX-License-Identifier: Apache-2.0
#include "runtime/errors.h"

#include <fmt/core.h>

#include <utility>

#include "acl/acl.h"

namespace mlmargin::runtime {

Status NullPointer(const char* argument) {
  return Status(ACL_ERROR_INVALID_PARAM, "EH0008",
                fmt::format("argument {} is null; expected a pointer.", argument));
}

Status InvalidParam(std::string text) {
  return Status(ACL_ERROR_INVALID_PARAM, "EH0007", std::move(text));
}

Status InvalidRuntimeParam(std::string text) {
  return Status(ACL_ERROR_RT_PARAM_INVALID, "EE1001", std::move(text));
}

Status InvalidHandle(const char* argument, const char* kind, const void* handle) {
  return Status(ACL_ERROR_RT_INVALID_HANDLE, "EE1017",
                fmt::format("argument {} is {}, which is no {} or one that was destroyed; expected "
                            "a live {}.",
                            argument, handle, kind, kind));
}

Status NotSupported(std::string text) {
  return Status(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1006", std::move(text));
}

Status OutOfMemory(std::string text) {
  return Status(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1021", std::move(text));
}

Status CheckTimeout(int32_t timeout_ms) {
  if (timeout_ms >= -1) return {};
  return InvalidRuntimeParam(fmt::format(
      "argument timeout is {} ms; expected -1 (wait for ever), 0 or more.", timeout_ms));
}

}  // namespace mlmargin::runtime
