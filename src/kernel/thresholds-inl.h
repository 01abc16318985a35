// SPDX-License-Identifier: Apache-2.0
// Thresholds and buckets of many scores at once.
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
#include "kernel/threshold_index.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

using Ints = hn::Rebind<int32_t, Floats>;
using IntVec = hn::Vec<Ints>;

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

// BucketMap.
HWY_INLINE IntVec BucketsOf(FloatVec scores, const BucketMap& map) {
  const Floats df;
  const FloatVec last = hn::Set(df, static_cast<float>(map.last));
  const FloatVec position =
      hn::Mul(hn::Sub(scores, hn::Set(df, map.lowest)), hn::Set(df, map.scale));
  return hn::ConvertTo(Ints(), hn::IfThenElse(hn::Lt(position, last), position, last));
}

// Of `count` sorted scores.
inline void FindThresholdsOnTarget(const float* HWY_RESTRICT scores, size_t count,
                                   const BucketMap& map, float* HWY_RESTRICT thresholds,
                                   int32_t* HWY_RESTRICT buckets) {
  size_t i = 0;
  for (; i + kFloatLanes <= count; i += kFloatLanes) {
    const FloatVec floors = FloorThresholds(hn::LoadU(Floats(), scores + i));
    hn::StoreU(floors, Floats(), thresholds + i);
    hn::StoreU(BucketsOf(floors, map), Ints(), buckets + i);
  }
  for (; i < count; ++i) {
    thresholds[i] = FloorThreshold(scores[i]);
    buckets[i] = map.Of(thresholds[i]);
  }
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
