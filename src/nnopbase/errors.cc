// SPDX-License-Identifier: Apache-2.0
#include "nnopbase/errors.h"

namespace mlmargin::nnopbase {

Status ParameterError(int32_t code, std::string text) { return {code, "EZ1001", std::move(text)}; }

Status CheckNotNull(const char* argument, const void* pointer) {
  if (pointer != nullptr) return {};
  return ParameterError(ACLNN_ERR_PARAM_NULLPTR,
                        fmt::format("{}: must not be null, got null", argument));
}

Status InnerNullError(std::string text) {
  return {ACLNN_ERR_INNER_NULLPTR, "EZ9999", std::move(text)};
}

Status CheckNotNullForExecutor(const char* argument, const void* pointer) {
  if (pointer != nullptr) return {};
  return InnerNullError(fmt::format("{}: must not be null, got null", argument));
}

Status DeadHandle(const char* argument, const char* kind, const void* handle) {
  return Invalid("{}: must be a live {}, got {}, which was destroyed or never was one", argument,
                 kind, handle);
}

Status DeadExecutor(const void* handle) {
  return InnerNullError(
      fmt::format("executor: must be a live executor, got {}, which was spent by phase 2, was "
                  "destroyed, or never was one; aclSetAclOpExecutorRepeatable right after phase 1 "
                  "lets an executor run more than once",
                  handle));
}

}  // namespace mlmargin::nnopbase
