// SPDX-License-Identifier: Apache-2.0
// What the passes over a row of few classes have in common: its labels, its scores by virtual
// vectors.
// Per-target include guard: this file is compiled once for each SIMD target.
#if defined(MLMARGIN_KERNEL_SHORT_LABELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MLMARGIN_KERNEL_SHORT_LABELS_INL_H_
#undef MLMARGIN_KERNEL_SHORT_LABELS_INL_H_
#else
#define MLMARGIN_KERNEL_SHORT_LABELS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/element.h"
#include "kernel/label_list.h"
#include "kernel/row_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

// The labels of a row, and what the sums need of them. A threshold is t = x - 1 in double.
struct ShortLabels {
  static constexpr size_t kMax = 64;
  size_t size;
  int32_t classes[kMax];  // Only for a gradient.
  float scores[kMax];
  double thresholds[kMax];
  double threshold_sum;
  double threshold_magnitude;                // The sum of their absolute values.
  uint64_t bits[kMaxShortClasses / 64 + 1];  // One for each class that is a label.

  HWY_INLINE size_t DistinctLabels() const {
    size_t count = 0;
    for (const uint64_t word : bits) count += static_cast<size_t>(std::popcount(word));
    return count;
  }
};

// Puts ones into the mask of the row, of zeros. False when there are more labels than fit.
template <typename Label, class Loader, bool kClasses>
HWY_INLINE bool ReadShortLabels(const LabelRow& from, const ScoreRow& scores, int64_t row,
                                typename Loader::Element* mask, ShortLabels* labels,
                                BadLabels* bad) {
  const int64_t label_step = from.stride * static_cast<int64_t>(sizeof(Label));
  const int64_t score_step = scores.stride * static_cast<int64_t>(sizeof(typename Loader::Element));
  std::fill(std::begin(labels->bits), std::end(labels->bits), 0);
  size_t size = 0;
  double sum = 0, magnitude = 0;
  for (int64_t column = 0; column < from.columns; ++column) {
    const auto label =
        static_cast<int64_t>(LoadUnaligned<Label>(Offset(from.data, column * label_step)));
    if (label == -1) break;
    const auto index = static_cast<uint64_t>(label);
    if (HWY_UNLIKELY(index >= static_cast<uint64_t>(scores.classes))) {
      NoteBadLabel(row, column, label, bad);
      continue;
    }
    if (HWY_UNLIKELY(size == ShortLabels::kMax)) return false;
    mask[index] = Loader::One();
    labels->bits[index / 64] |= uint64_t{1} << (index % 64);
    const float score = LoadScore(Loader::kType, Offset(scores.data, label * score_step));
    const double threshold = static_cast<double>(score) - 1.0;
    if constexpr (kClasses) labels->classes[size] = static_cast<int32_t>(label);
    labels->scores[size] = score;
    labels->thresholds[size] = threshold;
    sum += threshold;
    magnitude += std::abs(threshold);
    ++size;
  }
  if constexpr (kClasses) {
    // To whole vectors, with what is never looked at.
    for (size_t j = size; j % kLanes != 0; ++j) labels->scores[j] = 0;
  }
  labels->size = size;
  labels->threshold_sum = sum;
  labels->threshold_magnitude = magnitude;
  return true;
}

// The labels among kLanes classes, a bit each, of which the first is anywhere.
HWY_INLINE uint32_t LabelBitsFrom(const ShortLabels& labels, size_t first) {
  return static_cast<uint32_t>(BitsFrom(labels.bits, first)) & 0xFFFF;
}

// The same where the first is a multiple of kLanes.
HWY_INLINE uint32_t LabelBitsAt(const ShortLabels& labels, size_t first) {
  static_assert(kLanes == 16);
  uint16_t bits;
  std::memcpy(&bits, reinterpret_cast<const char*>(labels.bits) + first / 8, sizeof(bits));
  return bits;
}

template <typename Element>
HWY_INLINE void ZeroShortMask(size_t classes, Element* mask) {
  const hn::CappedTag<Element, kLanes> d;
  constexpr size_t kStep = hn::MaxLanes(d);
  if (HWY_UNLIKELY(classes < kLanes)) {
    std::fill_n(mask, classes, Element{0});
    return;
  }
  for (size_t i = 0; i + kStep <= classes; i += kStep) hn::StoreU(hn::Zero(d), d, mask + i);
  hn::StoreU(hn::Zero(d), d, mask + classes - kStep);
}

inline void WriteStridedShortMask(const Row& row, const ShortLabels& labels) {
  for (size_t i = 0; i < static_cast<size_t>(row.scores.classes); ++i) {
    StoreMaskElement(row, static_cast<int64_t>(i), (labels.bits[i / 64] >> (i % 64) & 1) != 0);
  }
}

// Calls visit(first, excluded, begin) for each kLanes classes, with a bit in `excluded` for each
// that is not to count; the first `begin` of them need not be looked at. There are at least kLanes;
// the last may be some of those before.
template <class Visit>
HWY_INLINE void ForEachShortVector(size_t classes, const ShortLabels& labels, const Visit& visit) {
  size_t i = 0;
  for (; i + kLanes <= classes; i += kLanes) visit(i, LabelBitsAt(labels, i), size_t{0});
  if (i == classes) return;
  const size_t first = classes - kLanes;
  const size_t seen = i - first;
  visit(first, LabelBitsFrom(labels, first) | ((uint32_t{1} << seen) - 1), seen);
}

// Copies the scores of a row that has less than a virtual vector of them, or strides, and fills
// them up to one with what cannot have a hinge. Returns how many there are then.
template <class Loader>
HWY_INLINE size_t CopyShortScores(const ScoreRow& row, float* HWY_RESTRICT copy) {
  const auto classes = static_cast<size_t>(row.classes);
  const int64_t step = row.stride * static_cast<int64_t>(sizeof(typename Loader::Element));
  for (size_t i = 0; i < classes; ++i) {
    copy[i] = LoadScore(Loader::kType, Offset(row.data, static_cast<int64_t>(i) * step));
  }
  const size_t padded = std::max(classes, kLanes);
  std::fill(copy + classes, copy + padded, -std::numeric_limits<float>::infinity());
  return padded;
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
