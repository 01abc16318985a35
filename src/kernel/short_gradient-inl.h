// SPDX-License-Identifier: Apache-2.0
// The gradient of a row of few classes: every pair is compared and counted.
// Per-target include guard: this file is compiled once for each SIMD target.
#if defined(MLMARGIN_KERNEL_SHORT_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MLMARGIN_KERNEL_SHORT_GRADIENT_INL_H_
#undef MLMARGIN_KERNEL_SHORT_GRADIENT_INL_H_
#else
#define MLMARGIN_KERNEL_SHORT_GRADIENT_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/gradient-inl.h"
#include "kernel/short_labels-inl.h"
#include "kernel/thresholds-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

// Of kLanes classes from `scores` on, of which those with a bit in `excluded` do not count.
template <class Loader>
HWY_INLINE void CountShortVector(const typename Loader::Element* HWY_RESTRICT scores,
                                 uint32_t excluded, const ShortLabels& labels,
                                 const float* HWY_RESTRICT thresholds, double scale,
                                 int32_t* HWY_RESTRICT active, float* HWY_RESTRICT gradient) {
  const Floats df;
  const Ints di;
  HWY_ALIGN int32_t stored[kLanes];
  for (size_t i = 0; i < kLanes; i += kFloatLanes) {
    const FloatVec y = LoadFloatVec<Loader>(scores + i);
    const auto counted = LabelMask(df, ~excluded, i);
    IntVec counts = hn::Zero(di);
    for (size_t j = 0; j < labels.size; ++j) {
      const auto above = hn::And(hn::Gt(y, hn::Set(df, thresholds[j])), counted);
      counts = CountIf(above, counts);
      active[j] += static_cast<int32_t>(hn::CountTrue(df, above));
    }
    hn::Store(counts, di, stored + i);
  }
  KeepInMemory(stored);
  const Doubles dd;
  const hn::Rebind<int32_t, Doubles> half_int;
  for (size_t i = 0; i < kLanes; i += kDoubleLanes) {
    const DoubleVec counts = hn::PromoteTo(dd, hn::Load(half_int, stored + i));
    StoreRounded(hn::Mul(counts, hn::Set(dd, scale)), gradient + i);
  }
}

// Of a row of at least kLanes classes.
template <class Loader>
HWY_INLINE void FindShortGradient(const typename Loader::Element* scores, size_t classes,
                                  const ShortLabels& labels, double scale,
                                  float* HWY_RESTRICT gradient) {
  float thresholds[ShortLabels::kMax];
  int32_t active[ShortLabels::kMax];
  FindThresholdsOnTarget(labels.scores, labels.size, thresholds);
  std::fill_n(active, labels.size, 0);
  ForEachShortVector(classes, labels,
                     [&](size_t first, uint32_t excluded, size_t seen) MLMARGIN_LAMBDA {
                       HWY_ALIGN float values[kLanes];
                       CountShortVector<Loader>(scores + first, excluded, labels, thresholds, scale,
                                                active, values);
                       std::copy(values + seen, values + kLanes, gradient + first + seen);
                     });
  // A class may be listed more than once.
  int32_t totals[kMaxShortClasses];
  for (size_t j = 0; j < labels.size; ++j) totals[labels.classes[j]] = 0;
  for (size_t j = 0; j < labels.size; ++j) totals[labels.classes[j]] += active[j];
  for (size_t j = 0; j < labels.size; ++j) {
    const int32_t label = labels.classes[j];
    gradient[label] = static_cast<float>(-totals[label] * scale);
  }
}

// `contiguous`: at least kLanes scores in a row.
template <class Loader>
HWY_NOINLINE void WriteShortGradient(const ScoreRow& row, bool contiguous,
                                     const ShortLabels& labels, double scale, int64_t stride,
                                     void* to) {
  HWY_ALIGN float gradient[kMaxShortClasses];
  const auto classes = static_cast<size_t>(row.classes);
  if (contiguous) {
    FindShortGradient<Loader>(static_cast<const typename Loader::Element*>(row.data), classes,
                              labels, scale, gradient);
  } else {
    float copy[kMaxShortClasses];
    const size_t padded = CopyShortScores<Loader>(row, copy);
    FindShortGradient<LoadFloat32>(copy, padded, labels, scale, gradient);
  }
  StoreGradients<Loader>(gradient, classes, stride, to);
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
