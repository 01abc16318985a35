// SPDX-License-Identifier: Apache-2.0
// The thresholds of many scores at once.
// Per-target include guard: this file is compiled once for each SIMD target.
#if defined(MLMARGIN_KERNEL_THRESHOLDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MLMARGIN_KERNEL_THRESHOLDS_INL_H_
#undef MLMARGIN_KERNEL_THRESHOLDS_INL_H_
#else
#define MLMARGIN_KERNEL_THRESHOLDS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/threshold.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

using Ints = hn::Rebind<int32_t, Floats>;
using IntVec = hn::Vec<Ints>;

HWY_INLINE IntVec CountIf(hn::Mask<Floats> mask, IntVec counts) {
  const Ints d;
#if HWY_TARGET <= HWY_AVX3
  return hn::IfThenElse(hn::RebindMask(d, mask), hn::Add(counts, hn::Set(d, 1)), counts);
#else
  return hn::Sub(counts, hn::BitCast(d, hn::VecFromMask(Floats(), mask)));
#endif
}

// FloorThreshold.
HWY_INLINE FloatVec FloorThresholds(FloatVec scores) {
  const Floats df;
  const Ints di;
  const FloatVec one = hn::Set(df, 1.0f);
  const FloatVec rounded = hn::Sub(scores, one);
  const FloatVec score_part = hn::Add(rounded, one);
  const FloatVec one_part = hn::Sub(score_part, rounded);
  const FloatVec lost = hn::Add(hn::Sub(scores, score_part), hn::Sub(one_part, one));
  const IntVec bits = hn::BitCast(di, rounded);
  const IntVec down = hn::Or(hn::ShiftRight<31>(hn::Not(bits)), hn::Set(di, 1));
  const auto rounded_up = hn::RebindMask(di, hn::Lt(lost, hn::Zero(df)));
  return hn::BitCast(df, hn::Add(bits, hn::IfThenElseZero(rounded_up, down)));
}

inline void FindThresholdsOnTarget(const float* HWY_RESTRICT scores, size_t count,
                                   float* HWY_RESTRICT thresholds) {
  size_t i = 0;
  for (; i + kFloatLanes <= count; i += kFloatLanes) {
    hn::StoreU(FloorThresholds(hn::LoadU(Floats(), scores + i)), Floats(), thresholds + i);
  }
  for (; i < count; ++i) thresholds[i] = FloorThreshold(scores[i]);
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
