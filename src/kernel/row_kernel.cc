// SPDX-License-Identifier: Apache-2.0
#include "kernel/row_kernel.h"

#include "kernel/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/row_kernel.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "kernel/row_kernel-inl.h"

#if HWY_ONCE
namespace mlmargin::kernel {

HWY_EXPORT(SumRangeOnTarget);

SumRangeFunction SumRange() { return HWY_DISPATCH_TABLE(SumRangeOnTarget)[TargetIndex()]; }

}  // namespace mlmargin::kernel
#endif  // HWY_ONCE
