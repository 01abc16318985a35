// SPDX-License-Identifier: Apache-2.0
// Settings of the kernels. Each has an environment variable, read once at first use, and a
// function here that overrides it. All functions are thread-safe; a change holds for work that
// begins after it; work queued in a stream begins when its turn comes. None of them changes a
// result's bits.
#ifndef MLMARGIN_SETTINGS_H_
#define MLMARGIN_SETTINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "mlmargin/export.h"
#include "mlmargin/status.h"

namespace mlmargin {

// MLMARGIN_NUM_THREADS: how many threads compute one call, the caller's among them. By default,
// and at most, the CPUs this process may run on; 1 means that the calling thread does it all.
MLMARGIN_API int NumThreads();
// `count` >= 1, or 0 for the default. kInvalidArgument when it is negative.
MLMARGIN_API Status SetNumThreads(int count);

// MLMARGIN_LABEL_CHECK (ignore, warn, error): what the aclnn operator does about labels outside
// [-1, classes - 1] before a row's first -1. They never count and are never used as an index.
enum class LabelCheck {
  kIgnore,  // Nothing.
  kWarn,    // The default: a line in the log, with the count and the first position, for the first
            // 10 calls and at each doubling of their number.
  kError,   // The outputs stay untouched and the stream reports 507035.
};
// The one in use.
MLMARGIN_API LabelCheck GetLabelCheck();
// For all streams of the process.
MLMARGIN_API void SetLabelCheck(LabelCheck check);

// MLMARGIN_TARGET: the SIMD instruction set in use, by Highway's name for it ("AVX2", "NEON").
MLMARGIN_API std::string Target();
// What this machine can run, best first; the first is the default.
MLMARGIN_API std::vector<std::string> SupportedTargets();
// Forces one of SupportedTargets(); an empty name restores the default. kInvalidArgument, with
// the list, for another name.
MLMARGIN_API Status SetTarget(std::string_view name);

// What was wrong with the environment variables above, a line each; empty if nothing was. A
// variable with a bad value is ignored.
MLMARGIN_API std::string EnvironmentErrors();

}  // namespace mlmargin

#endif  // MLMARGIN_SETTINGS_H_
