// SPDX-License-Identifier: Apache-2.0
// The kernel for rows of few classes, where what is done once a row decides: it keeps to registers
// and adds in double.
// Per-target include guard: this file is compiled once for each SIMD target.
#if defined(MLMARGIN_KERNEL_SHORT_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MLMARGIN_KERNEL_SHORT_ROWS_INL_H_
#undef MLMARGIN_KERNEL_SHORT_ROWS_INL_H_
#else
#define MLMARGIN_KERNEL_SHORT_ROWS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/element.h"
#include "kernel/row_arguments.h"
#include "kernel/row_kernel.h"
#include "kernel/short_gradient-inl.h"
#include "kernel/short_labels-inl.h"
#include "kernel/threshold.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

// ---- The first try -------------------------------------------------------------------------

// The first try adds up max(y, t) of each class score y and threshold t = x - 1, from which what it
// is without any hinge, t, is taken once a row:
//
//   sum over i, j of max(0, y[i] - t[j]) = sum over i, j of max(y[i], t[j]) - classes * sum of t.
//
// Where little is left beside what was added up, or it is not finite, there is a second one, which
// adds up the hinges themselves.

// Of doubles, by class modulo kLanes.
struct ShortSums {
  static constexpr size_t kVectors = kLanes / kDoubleLanes;
  DoubleVec sums[kVectors];

  HWY_INLINE ShortSums() {
    for (size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(Doubles());
  }

  // Adds `terms` to vector v, but those that `excluded` has a bit for.
  HWY_INLINE void Add(size_t v, DoubleVec terms, uint32_t excluded) {
    const auto counts = LabelMask(Doubles(), ~excluded, v * kDoubleLanes);
#if HWY_TARGET <= HWY_AVX3
    sums[v] = hn::IfThenElse(counts, hn::Add(sums[v], terms), sums[v]);
#else
    sums[v] = hn::Add(sums[v], hn::IfThenElseZero(counts, terms));
#endif
  }

  HWY_INLINE double Total() const { return SumOfVirtualLanes(sums); }
};

// Of NaN and a number every target's maximum is the number, which is to come second.
HWY_INLINE DoubleVec MaxWith(DoubleVec y, const ShortLabels& labels, size_t j) {
  return hn::Max(y, hn::Set(Doubles(), labels.thresholds[j]));
}

// Sums terms(y) over the scores y of all classes that are to count.
template <class Loader, class Terms>
HWY_INLINE double SumOverClasses(const typename Loader::Element* HWY_RESTRICT scores,
                                 size_t classes, const ShortLabels& labels, const Terms& terms) {
  ShortSums sums;
  ForEachShortVector(
      classes, labels, [&](size_t first, uint32_t excluded, size_t begin) MLMARGIN_LAMBDA {
        for (size_t v = 0; v < ShortSums::kVectors; ++v) {
          if ((v + 1) * kDoubleLanes <= begin) continue;
          sums.Add(v, terms(LoadDoubleVec<Loader>(scores + first + v * kDoubleLanes)), excluded);
        }
      });
  return sums.Total();
}

// kLabels is the number of labels, or zero for any number.
template <class Loader, size_t kLabels>
HWY_INLINE double SumMaxima(const typename Loader::Element* HWY_RESTRICT scores, size_t classes,
                            const ShortLabels& labels) {
  const size_t num_labels = kLabels == 0 ? labels.size : kLabels;
  return SumOverClasses<Loader>(scores, classes, labels, [&](DoubleVec y) MLMARGIN_LAMBDA {
    DoubleVec maxima = MaxWith(y, labels, 0);
    size_t j = 1;
    for (; j + 1 < num_labels; j += 2) {
      maxima = hn::Add(maxima, hn::Add(MaxWith(y, labels, j), MaxWith(y, labels, j + 1)));
    }
    return j < num_labels ? hn::Add(maxima, MaxWith(y, labels, j)) : maxima;
  });
}

template <class Loader>
HWY_INLINE double SumMaximaOf(const typename Loader::Element* HWY_RESTRICT scores, size_t classes,
                              const ShortLabels& labels) {
  switch (labels.size) {
    case 1:
      return SumMaxima<Loader, 1>(scores, classes, labels);
    case 2:
      return SumMaxima<Loader, 2>(scores, classes, labels);
    case 3:
      return SumMaxima<Loader, 3>(scores, classes, labels);
    case 4:
      return SumMaxima<Loader, 4>(scores, classes, labels);
    default:
      return SumMaxima<Loader, 0>(scores, classes, labels);
  }
}

// ---- The second try ------------------------------------------------------------------------

// The labels that a hinge can be positive for.
struct HingeLabels {
  size_t size = 0;  // A multiple of two: there may be one more, which is below every class.
  double high[ShortLabels::kMax + 1];  // -t.
  double low[ShortLabels::kMax + 1];
  float lowest = std::numeric_limits<float>::infinity();  // Score.

  explicit HingeLabels(const ShortLabels& labels) {
    for (size_t j = 0; j < labels.size; ++j) {
      const float score = labels.scores[j];
      if (!(score < std::numeric_limits<float>::infinity())) continue;
      lowest = std::min(lowest, score);
      const NegatedThreshold negated(score);
      high[size] = negated.high;
      low[size] = negated.low;
      ++size;
    }
    if (size % 2 == 0) return;
    high[size] = std::numeric_limits<double>::lowest();
    low[size] = 0;
    ++size;
  }
};

template <class Loader>
HWY_INLINE bool AnyAbove(float lowest, const typename Loader::Element* HWY_RESTRICT scores,
                         size_t classes, const ShortLabels& labels) {
  const Floats df;
  const FloatVec bound = hn::Set(df, lowest);
  bool any = false;
  ForEachShortVector(classes, labels, [&](size_t first, uint32_t excluded, size_t) MLMARGIN_LAMBDA {
    for (size_t i = 0; i < kLanes; i += kFloatLanes) {
      const auto above = hn::Gt(LoadFloatVec<Loader>(scores + first + i), bound);
      any |= !hn::AllFalse(df, hn::And(above, LabelMask(df, ~excluded, i)));
    }
  });
  return any;
}

HWY_INLINE DoubleVec Hinge(DoubleVec y, const HingeLabels& labels, size_t j) {
  const Doubles dd;
  return PositivePart(hn::Add(hn::Add(hn::Set(dd, labels.high[j]), y), hn::Set(dd, labels.low[j])));
}

template <class Loader>
HWY_NOINLINE double SumHinges(const typename Loader::Element* scores, size_t classes,
                              const ShortLabels& labels) {
  const HingeLabels hinge_labels(labels);
  // Often there is none, with a trained model.
  if (!AnyAbove<Loader>(FloorThreshold(hinge_labels.lowest), scores, classes, labels)) return 0;
  if (std::isinf(hinge_labels.lowest)) return std::numeric_limits<double>::infinity();
  return SumOverClasses<Loader>(scores, classes, labels, [&](DoubleVec y) MLMARGIN_LAMBDA {
    DoubleVec hinges = hn::Zero(Doubles());
    for (size_t j = 0; j < hinge_labels.size; j += 2) {
      hinges = hn::Add(hinges, hn::Add(Hinge(y, hinge_labels, j), Hinge(y, hinge_labels, j + 1)));
    }
    return hinges;
  });
}

// ---- Rows ----------------------------------------------------------------------------------

// Takes from the sum of the maxima of a row with so many classes what it is without any hinge.
// False when too little is left.
HWY_INLINE bool TakeThresholds(size_t classes, const ShortLabels& labels, double* sum) {
  const auto counted = static_cast<double>(classes - labels.DistinctLabels());
  *sum -= counted * labels.threshold_sum;
  // At least the sum of what was added up, taken positive: |max(y, t)| <= (max(y, t) - t) + |t|.
  // Each of fewer than 256 rounding errors that a term goes through, in the sum or among the
  // thresholds, is at most 2^-53 of it.
  const double magnitude = *sum + counted * labels.threshold_magnitude;
  return magnitude <= *sum * 0x1p14;
}

template <class Loader>
HWY_INLINE double SumShortScores(const typename Loader::Element* scores, size_t classes,
                                 const ShortLabels& labels) {
  double sum = SumMaximaOf<Loader>(scores, classes, labels);
  if (HWY_LIKELY(TakeThresholds(classes, labels, &sum))) return sum;
  return SumHinges<Loader>(scores, classes, labels);
}

template <class Loader>
HWY_NOINLINE double SumShortCopy(const ScoreRow& row, const ShortLabels& labels) {
  float copy[kMaxShortClasses];
  const size_t padded = CopyShortScores<Loader>(row, copy);
  return SumShortScores<LoadFloat32>(copy, padded, labels);
}

// So few scores are not worth a vector that would wait for them to be copied.
inline constexpr size_t kTinyClasses = 4;
template <class Loader>
HWY_INLINE double SumTinyRow(const ScoreRow& row, const ShortLabels& labels) {
  const auto classes = static_cast<size_t>(row.classes);
  const int64_t step = row.stride * static_cast<int64_t>(sizeof(typename Loader::Element));
  double sum = 0;
  for (size_t i = 0; i < classes; ++i) {
    const auto y = static_cast<double>(
        LoadScore(Loader::kType, Offset(row.data, static_cast<int64_t>(i) * step)));
    double maxima = 0;
    for (size_t j = 0; j < labels.size; ++j) {
      const double threshold = labels.thresholds[j];
      maxima += y > threshold ? y : threshold;
    }
    sum += (labels.bits[0] >> i & 1) != 0 ? 0 : maxima;
  }
  if (HWY_LIKELY(TakeThresholds(classes, labels, &sum))) return sum;
  return SumShortCopy<Loader>(row, labels);
}

// The sum of the hinges of a row, whose scores are `contiguous` if there are kLanes of them in a
// row.
template <class Loader>
HWY_INLINE double SumShortRow(const ScoreRow& row, bool contiguous, const ShortLabels& labels) {
  if (HWY_UNLIKELY(labels.size == 0)) return 0;
  if (HWY_LIKELY(contiguous)) {
    return SumShortScores<Loader>(static_cast<const typename Loader::Element*>(row.data),
                                  static_cast<size_t>(row.classes), labels);
  }
  if (row.classes <= static_cast<int64_t>(kTinyClasses)) return SumTinyRow<Loader>(row, labels);
  return SumShortCopy<Loader>(row, labels);
}

template <typename Label, class Loader, bool kGradient>
HWY_INLINE int64_t SumShortRowsTyped(const LossArguments& args, int64_t begin, int64_t end,
                                     double* HWY_RESTRICT sums, BadLabels* bad) {
  using Element = typename Loader::Element;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Element));
  constexpr int64_t kRowsAhead = 8;
  const auto classes = static_cast<size_t>(args.classes);
  const bool contiguous = args.scores.column_stride == 1 && classes >= kLanes;
  const bool easy_mask = args.mask.data != nullptr && args.mask.column_stride == 1 &&
                         reinterpret_cast<uintptr_t>(args.mask.data) % sizeof(Element) == 0;
  Row row;
  row.scores = {nullptr, args.scores.column_stride, args.classes, Loader::kType};
  row.mask_stride = args.mask.column_stride;
  ShortLabels labels;
  Element no_mask[kMaxShortClasses];
  // What LabelsOfRow says, but for the distances between padded rows once for all.
  const bool padded = args.label_offsets == nullptr;
  const int64_t label_bytes =
      args.label_columns == 0 ? 0 : args.labels.row_stride * static_cast<int64_t>(sizeof(Label));
  LabelRow label_row = LabelsOfRow(args, begin);
  for (int64_t n = begin; n < end; ++n) {
    if (HWY_LIKELY(padded)) {
      // The labels lie too far apart for the processor's own prefetching.
      hwy::Prefetch(static_cast<const char*>(
          Offset(args.labels.data, std::min(n + kRowsAhead, end - 1) * label_bytes)));
      label_row.data = Offset(args.labels.data, n * label_bytes);
    } else {
      label_row = LabelsOfRow(args, n);
    }
    row.scores.data = Offset(args.scores.data, n * args.scores.row_stride * kBytes);
    row.mask = args.mask.data == nullptr
                   ? nullptr
                   : Offset(args.mask.data, n * args.mask.row_stride * kBytes);
    auto* const mask = easy_mask ? static_cast<Element*>(row.mask) : no_mask;
    if (easy_mask) ZeroShortMask(classes, mask);
    const int64_t bad_before = bad->count;
    if (!ReadShortLabels<Label, Loader, kGradient>(label_row, row.scores, n, mask, &labels, bad)) {
      // It will be read once more.
      if (bad_before == 0) *bad = BadLabels();
      bad->count = bad_before;
      return n;
    }
    if (row.mask != nullptr && !easy_mask) WriteStridedShortMask(row, labels);
    if (!kGradient || args.loss != nullptr) {
      sums[n - begin] = SumShortRow<Loader>(row.scores, contiguous, labels);
    }
    if constexpr (kGradient) {
      WriteShortGradient<Loader>(
          row.scores, contiguous, labels, GradLoss(args, args.classes, n).PerPair(),
          args.grad_scores.column_stride,
          Offset(args.grad_scores.data, n * args.grad_scores.row_stride * kBytes));
    }
  }
  return end;
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
