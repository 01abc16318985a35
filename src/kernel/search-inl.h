// SPDX-License-Identifier: Apache-2.0
// The row kernel for many labels: every class finds its place among the sorted thresholds.
// Per-target include guard: this file is compiled once for each SIMD target.
#if defined(MLMARGIN_KERNEL_SEARCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MLMARGIN_KERNEL_SEARCH_INL_H_
#undef MLMARGIN_KERNEL_SEARCH_INL_H_
#else
#define MLMARGIN_KERNEL_SEARCH_INL_H_
#endif

#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/threshold_index.h"
#include "kernel/thresholds-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

// Scores above the lowest threshold, in the order of their classes, and what is found for each.
struct ActiveBuffer {
  static constexpr size_t kEnough = 1024;  // Then they are worked off.
  static constexpr size_t kCapacity = kEnough + kGroup + kLanes;
  HWY_ALIGN float scores[kCapacity];
  HWY_ALIGN int32_t counts[kCapacity];  // Buckets at first.
  HWY_ALIGN float label_scores[kCapacity];
  HWY_ALIGN double bases[kCapacity];
  size_t size = 0;
};

HWY_INLINE void Append(const float* HWY_RESTRICT scores, float lowest,
                       ActiveBuffer* HWY_RESTRICT active) {
  size_t size = active->size;
#if HWY_TARGET <= HWY_AVX3
  const Floats df;
  for (size_t i = 0; i < kGroup; i += kFloatLanes) {
    const FloatVec y = hn::Load(df, scores + i);
    const auto above = hn::Gt(y, hn::Set(df, lowest));
    hn::StoreU(hn::Compress(y, above), df, active->scores + size);
    size += hn::CountTrue(df, above);
  }
#else
  // Highway 1.0.3 copies the table for Compress to the stack each time.
  for (size_t i = 0; i < kGroup; ++i) {
    active->scores[size] = scores[i];
    size += scores[i] > lowest ? 1 : 0;
  }
#endif
  active->size = size;
}

HWY_INLINE void FindBuckets(const ThresholdIndex& index, ActiveBuffer* HWY_RESTRICT active) {
  for (size_t i = 0; i < active->size; i += kFloatLanes) {
    const FloatVec y = hn::Load(Floats(), active->scores + i);
    hn::Store(BucketsOf(y, index.map()), Ints(), active->counts + i);
  }
}

// The number of thresholds below y, which is in `bucket` and above the first.
template <bool kCrowded>
HWY_INLINE int32_t CountBelow(const ThresholdIndex& index, float y, int32_t bucket) {
  const float* HWY_RESTRICT thresholds = index.thresholds();
  int32_t count = index.first()[bucket];
  if constexpr (kCrowded) {
    int32_t left = index.first()[bucket + 1] - count;
    while (left > ThresholdIndex::kCrowd) {
      const int32_t half = left / 2;
      count += thresholds[count + half - 1] < y ? half : 0;
      left -= half;
    }
  }
  // Few buckets hold more than two thresholds. These steps wait for each other as little as
  // possible; behind the last threshold there are as many of +inf.
  const int below = (thresholds[count] < y ? 1 : 0) + (thresholds[count + 1] < y ? 1 : 0);
  if (HWY_UNLIKELY(thresholds[count + 2] < y)) {
    count += 3;
    while (thresholds[count] < y) ++count;
    return count;
  }
  return count + below;
}

// The counts, and with them what the index has for each.
template <bool kCrowded>
HWY_INLINE void LookUp(const ThresholdIndex& index, ActiveBuffer* HWY_RESTRICT active) {
  const float* HWY_RESTRICT label_scores = index.scores();
  const double* HWY_RESTRICT bases = index.base();
  const size_t size = active->size;
  for (size_t i = 0; i < size; ++i) {
    const int32_t count = CountBelow<kCrowded>(index, active->scores[i], active->counts[i]);
    active->counts[i] = count;
    active->label_scores[i] = label_scores[count - 1];
    active->bases[i] = bases[count - 1];
  }
  // To whole virtual vectors, with what adds nothing.
  for (size_t i = size; i % kLanes != 0; ++i) {
    active->scores[i] = 0;
    active->counts[i] = 0;
    active->label_scores[i] = 0;
    active->bases[i] = 0;
  }
}

// Adds count * hinge + base of the i-th active class to lane i modulo kLanes.
template <bool kLow>
HWY_INLINE void AddActive(const ActiveBuffer& active, double* HWY_RESTRICT lanes) {
  const Doubles dd;
  const hn::Rebind<float, Doubles> df;
  const hn::Rebind<int32_t, Doubles> di;
  const DoubleVec one = hn::Set(dd, 1.0);
  for (size_t lane = 0; lane < kLanes; lane += kDoubleLanes) {
    DoubleVec sum = hn::Load(dd, lanes + lane);
    for (size_t i = lane; i < active.size; i += kLanes) {
      const DoubleVec y = hn::PromoteTo(dd, hn::Load(df, active.scores + i));
      const DoubleVec x = hn::PromoteTo(dd, hn::Load(df, active.label_scores + i));
      const DoubleVec count = hn::PromoteTo(dd, hn::Load(di, active.counts + i));
      const DoubleVec high = hn::Sub(one, x);
      DoubleVec hinge = hn::Add(high, y);
      if constexpr (kLow) {
        // As NegatedThreshold.
        const DoubleVec score_part = hn::Sub(one, high);
        const DoubleVec one_part = hn::Add(high, score_part);
        hinge = hn::Add(hinge, hn::Add(hn::Sub(one, one_part), hn::Sub(score_part, x)));
      }
      const DoubleVec base = hn::Load(dd, active.bases + i);
      sum = hn::Add(sum, hn::Add(hn::Mul(count, hinge), base));
    }
    hn::Store(sum, dd, lanes + lane);
  }
}

HWY_INLINE void WorkOff(const ThresholdIndex& index, ActiveBuffer* HWY_RESTRICT active,
                        double* HWY_RESTRICT lanes) {
  FindBuckets(index, active);
  if (index.crowded()) {
    LookUp<true>(index, active);
  } else {
    LookUp<false>(index, active);
  }
  if (index.any_low()) {
    AddActive<true>(*active, lanes);
  } else {
    AddActive<false>(*active, lanes);
  }
  active->size = 0;
}

template <class Loader>
HWY_NOINLINE double SumRangeSearch(const Row& row, int64_t begin, int64_t end) {
  const ThresholdIndex& index = *row.index;
  const float lowest = index.thresholds()[0];
  ActiveBuffer active;
  HWY_ALIGN double lanes[kLanes] = {};
  ForEachActiveGroup<Loader>(row, row.mask != nullptr, begin, end, lowest,
                             [&](const float* group) MLMARGIN_LAMBDA {
                               Append(group, lowest, &active);
                               if (active.size >= ActiveBuffer::kEnough) {
                                 WorkOff(index, &active, lanes);
                               }
                             });
  WorkOff(index, &active, lanes);
  return SumOfVirtualLanes(lanes);
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
