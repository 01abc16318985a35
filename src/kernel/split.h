// SPDX-License-Identifier: Apache-2.0
// How the work of a call is divided: rows into parts, and all of it over threads.
#ifndef MLMARGIN_KERNEL_SPLIT_H_
#define MLMARGIN_KERNEL_SPLIT_H_

#include <algorithm>
#include <cstdint>

#include "kernel/row_kernel.h"
#include "mlmargin/settings.h"

namespace mlmargin::kernel {

inline int64_t DivideUp(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// ---- Parts of a row ------------------------------------------------------------------------

// A row's sum is made of parts of so many classes, but for the last, so one thread alone and many
// threads over one row add in the same order. A row has at most kMaxParts. Part of the results'
// bits.
inline constexpr int64_t kMaxParts = 1024;
inline int64_t ClassesOfPart(int64_t classes) {
  return std::max<int64_t>(1, DivideUp(DivideUp(classes, kMinPartClasses), kMaxParts)) *
         kMinPartClasses;
}

inline int64_t PartEnd(int64_t begin, int64_t part_classes, int64_t classes) {
  return begin + std::min(part_classes, classes - begin);
}

// ---- Threads -------------------------------------------------------------------------------

// Work of one task, in classes: a few microseconds, well above the cost of handing it out.
inline constexpr int64_t kTaskClasses = 32768;

// Rows of a task; `classes` may be 0.
inline int64_t RowGrain(int64_t classes) {
  return std::max<int64_t>(1, kTaskClasses / std::max<int64_t>(1, classes));
}

// How many threads compute a call, which asks for `max_threads` at most, or for no limit with 0.
inline int ThreadsFor(int64_t rows, int64_t classes, int max_threads) {
  // Below so many classes in all a call stays on its thread: waking another costs more.
  constexpr int64_t kSerialClasses = 16384;
  if (rows <= kSerialClasses / std::max<int64_t>(1, classes)) return 1;
  return max_threads > 0 ? std::min(max_threads, NumThreads()) : NumThreads();
}

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_SPLIT_H_
