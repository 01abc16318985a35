// SPDX-License-Identifier: Apache-2.0
// Entry points for error texts and last errors.
#include <fmt/core.h>

#include "runtime/c_api.h"
#include "runtime/error_report.h"
#include "runtime/fork_guard.h"

namespace mlmargin::runtime {
namespace {

Status CheckLevel(aclrtLastErrLevel level) {
  if (level == ACL_RT_THREAD_LEVEL) return {};
  return InvalidParam(fmt::format("argument level is {}; expected ACL_RT_THREAD_LEVEL (0).",
                                  static_cast<int>(level)));
}

}  // namespace
}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

const char* aclGetRecentErrMsg() {
  if (InForkedChild()) return ForkedChildMessage();
  try {
    return TakeRecentMessages();
  } catch (...) {
    return nullptr;
  }
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  int32_t last_error = 0;
  const aclError result = ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckLevel(level));
    last_error = LastError();
    ClearLastError();
    return Status();
  });
  return result != ACL_SUCCESS ? result : last_error;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  int32_t last_error = 0;
  const aclError result = ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckLevel(level));
    last_error = LastError();
    return Status();
  });
  return result != ACL_SUCCESS ? result : last_error;
}
