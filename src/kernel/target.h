// SPDX-License-Identifier: Apache-2.0
// Which of the compiled SIMD targets is in use. Kept apart from Highway's own choice, which other
// libraries of the process share.
#ifndef MLMARGIN_KERNEL_TARGET_H_
#define MLMARGIN_KERNEL_TARGET_H_

#include <cstddef>

// Scalable vectors have no size that the compiler knows; their machines run the NEON code. A build
// may leave out more.
#ifndef MLMARGIN_DISABLED_TARGETS
#define MLMARGIN_DISABLED_TARGETS 0
#endif
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | MLMARGIN_DISABLED_TARGETS)

namespace mlmargin::kernel {

// Index of the target in use in the tables that HWY_EXPORT makes.
size_t TargetIndex();

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_TARGET_H_
