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
#include <bit>
#include <cstring>
#include <limits>

#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/gradient-inl.h"
#include "kernel/short_labels-inl.h"
#include "kernel/thresholds-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

// For each label, which classes have a hinge with it: a bit each, by the virtual vectors of
// ForEachShortVector.
struct ActiveBits {
  static constexpr size_t kWords = kMaxShortClasses / 64;
  uint64_t words[ShortLabels::kMax][kWords];

  HWY_INLINE explicit ActiveBits(size_t labels) {
    for (size_t j = 0; j < labels; ++j) std::fill_n(words[j], kWords, 0);
  }

  HWY_INLINE void Set(size_t j, size_t bit, hn::Mask<Floats> mask) {
    // Whole bytes; vectors of less than 8 floats share one.
    uint8_t bytes[8];
    hn::StoreMaskBits(Floats(), mask, bytes);
    auto* const to = reinterpret_cast<uint8_t*>(words[j]) + bit / 8;
    if constexpr (kFloatLanes >= 8) {
      std::memcpy(to, bytes, kFloatLanes / 8);
    } else {
      *to = static_cast<uint8_t>(*to | bytes[0] << (bit % 8));
    }
  }

  HWY_INLINE int32_t Count(size_t j) const {
    int32_t count = 0;
    for (const uint64_t word : words[j]) count += std::popcount(word);
    return count;
  }
};

// What a class that is above so many thresholds gets.
class CountsToGradient {
 public:
  HWY_INLINE explicit CountsToGradient(double scale) : scale_(scale) {
    HWY_ALIGN float table[kFloatLanes];
    for (size_t c = 0; c < kFloatLanes; ++c) table[c] = Of(static_cast<int32_t>(c));
    table_ = hn::Load(Floats(), table);
  }

  HWY_INLINE float Of(int32_t count) const { return static_cast<float>(count * scale_); }

  // For up to `most` each.
  HWY_INLINE FloatVec Of(IntVec counts, [[maybe_unused]] size_t most) const {
#if HWY_TARGET != HWY_SCALAR
    if (most < kFloatLanes) {
      return hn::TableLookupLanes(table_, hn::IndicesFromVec(Floats(), counts));
    }
#endif
    HWY_ALIGN int32_t stored[kFloatLanes];
    HWY_ALIGN float values[kFloatLanes];
    hn::Store(counts, Ints(), stored);
    for (size_t i = 0; i < kFloatLanes; ++i) values[i] = Of(stored[i]);
    return hn::Load(Floats(), values);
  }

 private:
  const double scale_;
  FloatVec table_;
};

// Of a row of at least kLanes classes. kLabels is the number of labels, or zero for any number.
template <class Loader, size_t kLabels>
HWY_INLINE void FindShortGradient(const typename Loader::Element* scores, size_t classes,
                                  const ShortLabels& labels, double scale,
                                  float* HWY_RESTRICT gradient) {
  const Floats df;
  const size_t num_labels = kLabels == 0 ? labels.size : kLabels;
  HWY_ALIGN float thresholds[ShortLabels::kMax];
  for (size_t j = 0; j < num_labels; j += kFloatLanes) {
    hn::Store(FloorThresholds(hn::LoadU(df, labels.scores + j)), df, thresholds + j);
  }
  ActiveBits active(num_labels);
  const CountsToGradient to_gradient(scale);
  size_t bit = 0;
  ForEachShortVector(
      classes, labels, [&](size_t first, uint32_t excluded, size_t seen) MLMARGIN_LAMBDA {
        for (size_t i = 0; i < kLanes; i += kFloatLanes, bit += kFloatLanes) {
          // What is below every threshold has no hinge.
          const FloatVec y =
              hn::IfThenElse(LabelMask(df, ~excluded, i), LoadFloatVec<Loader>(scores + first + i),
                             hn::Set(df, -std::numeric_limits<float>::infinity()));
          IntVec counts = hn::Zero(Ints());
          for (size_t j = 0; j < num_labels; ++j) {
            const auto above = hn::Gt(y, hn::Set(df, thresholds[j]));
            counts = CountIf(above, counts);
            active.Set(j, bit, above);
          }
          float* const to = gradient + first + i;
          FloatVec values = to_gradient.Of(counts, num_labels);
          if (HWY_UNLIKELY(seen != 0)) {
            const auto old = LabelMask(df, (uint64_t{1} << seen) - 1, i);
            values = hn::IfThenElse(old, hn::LoadU(df, to), values);
          }
          hn::StoreU(values, df, to);
        }
      });
  // A class may be listed more than once.
  int32_t totals[kMaxShortClasses];
  for (size_t j = 0; j < num_labels; ++j) totals[labels.classes[j]] = 0;
  for (size_t j = 0; j < num_labels; ++j) totals[labels.classes[j]] += active.Count(j);
  for (size_t j = 0; j < num_labels; ++j) {
    const int32_t label = labels.classes[j];
    StoreUnaligned(to_gradient.Of(-totals[label]), gradient + label);
  }
}

template <class Loader>
HWY_INLINE void FindShortGradientOf(const typename Loader::Element* scores, size_t classes,
                                    const ShortLabels& labels, double scale, float* gradient) {
  switch (labels.size) {
    case 1:
      return FindShortGradient<Loader, 1>(scores, classes, labels, scale, gradient);
    case 2:
      return FindShortGradient<Loader, 2>(scores, classes, labels, scale, gradient);
    case 3:
      return FindShortGradient<Loader, 3>(scores, classes, labels, scale, gradient);
    case 4:
      return FindShortGradient<Loader, 4>(scores, classes, labels, scale, gradient);
    default:
      return FindShortGradient<Loader, 0>(scores, classes, labels, scale, gradient);
  }
}

// `contiguous`: at least kLanes scores in a row.
template <class Loader>
HWY_NOINLINE void WriteShortGradient(const ScoreRow& row, bool contiguous,
                                     const ShortLabels& labels, double scale, int64_t stride,
                                     void* to) {
  HWY_ALIGN float gradient[kMaxShortClasses];
  const auto classes = static_cast<size_t>(row.classes);
  if (HWY_LIKELY(contiguous)) {
    const auto* const scores = static_cast<const typename Loader::Element*>(row.data);
    if (Loader::kType == ScoreType::kFloat32 && stride == 1) {
      return FindShortGradientOf<Loader>(scores, classes, labels, scale, static_cast<float*>(to));
    }
    FindShortGradientOf<Loader>(scores, classes, labels, scale, gradient);
  } else {
    float copy[kMaxShortClasses];
    const size_t padded = CopyShortScores<Loader>(row, copy);
    FindShortGradient<LoadFloat32, 0>(copy, padded, labels, scale, gradient);
  }
  StoreGradients<Loader>(gradient, classes, stride, to);
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
