// SPDX-License-Identifier: Apache-2.0
// The failure of a check of phase 1.
#ifndef MLMARGIN_OPAPI_ERRORS_H_
#define MLMARGIN_OPAPI_ERRORS_H_

#include <fmt/core.h>

#include <utility>

#include "nnopbase/private_api.h"
#include "opdev/op_errno.h"

namespace mlmargin::opapi {

// 161002 with a text that names the argument, what was expected and what came.
template <typename... Args>
nnopbase::Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return nnopbase::ParameterError(ACLNN_ERR_PARAM_INVALID,
                                  fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_ERRORS_H_
