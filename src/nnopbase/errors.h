// SPDX-License-Identifier: Apache-2.0
// The common failures in one wording: "<argument>: <what it must be>, got <what came>". `argument`
// is the parameter's name in the public header; Report puts the function's name in front.
#ifndef MLMARGIN_NNOPBASE_ERRORS_H_
#define MLMARGIN_NNOPBASE_ERRORS_H_

#include <fmt/core.h>

#include <string>
#include <utility>

#include "nnopbase/private_api.h"
#include "opdev/op_errno.h"

namespace mlmargin::nnopbase {

// 161002, EZ1001: a value that breaks the contract.
template <typename... Args>
Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return ParameterError(ACLNN_ERR_PARAM_INVALID, fmt::format(format, std::forward<Args>(args)...));
}

// 161001 when the pointer is null.
Status CheckNotNull(const char* argument, const void* pointer);

// 561103, EZ9999: what the executor calls answer to a null or dead handle.
Status InnerNullError(std::string text);
Status CheckNotNullForExecutor(const char* argument, const void* pointer);

// 161002: `handle` is no live object of that kind ("tensor", "int array").
Status DeadHandle(const char* argument, const char* kind, const void* handle);

// 561103: the same for an executor, which most often is spent.
Status DeadExecutor(const void* handle);

}  // namespace mlmargin::nnopbase

#endif  // MLMARGIN_NNOPBASE_ERRORS_H_
