// SPDX-License-Identifier: Apache-2.0
// The common failures in one wording. `argument` is the parameter's name in the public header;
// the function's name is put in front by Report.
#ifndef MLMARGIN_RUNTIME_ERRORS_H_
#define MLMARGIN_RUNTIME_ERRORS_H_

#include <cstdint>
#include <string>

#include "runtime/status.h"

namespace mlmargin::runtime {

// 100000, EH0008: "argument <argument> is null".
Status NullPointer(const char* argument);

// 100000, EH0007: a value outside its enum, a size of zero and the like. `text` names the
// argument, what was expected and what came.
Status InvalidParam(std::string text);

// 107000, EE1001: another argument is wrong.
Status InvalidRuntimeParam(std::string text);

// 107017, EE1017: `handle` is not a live object of that kind ("stream", "event", "context").
Status InvalidHandle(const char* argument, const char* kind, const void* handle);

// 207000, EE1006: a CPU device cannot do this.
Status NotSupported(std::string text);

// 207001, EE1021: out of device or host memory.
Status OutOfMemory(std::string text);

// 107000 when a timeout in ms is below -1.
Status CheckTimeout(int32_t timeout_ms);

}  // namespace mlmargin::runtime

#define MLMARGIN_RETURN_IF_NULL(argument)                                          \
  do {                                                                             \
    if ((argument) == nullptr) return ::mlmargin::runtime::NullPointer(#argument); \
  } while (false)

#endif  // MLMARGIN_RUNTIME_ERRORS_H_
