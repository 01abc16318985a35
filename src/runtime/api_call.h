// SPDX-License-Identifier: Apache-2.0
// The one way from a public C function to its C++ body: no exception passes, every failure is
// reported, and a forked child is turned away before anything is locked.
#ifndef MLMARGIN_RUNTIME_API_CALL_H_
#define MLMARGIN_RUNTIME_API_CALL_H_

#include <utility>

#include "runtime/private_api.h"

namespace mlmargin::runtime {

// Runs `body` (a callable that returns Status) as the public function named `function` and
// returns the code for its caller. Results other than the code leave through captured variables.
template <typename Body>
int32_t ApiCall(const char* function, Body&& body, ApiFamily family = ApiFamily::kAcl,
                const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
  if (InForkedChild()) return ReportForkedChild(function);
  try {
    const Status status = std::forward<Body>(body)();
    return status.ok() ? 0 : Report(function, status, file, line);
  } catch (...) {
    return ReportException(function, family);
  }
}

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_API_CALL_H_
