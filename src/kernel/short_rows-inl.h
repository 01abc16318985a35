// SPDX-License-Identifier: Apache-2.0
// The kernel for rows of few classes, where what is done once a row decides: it keeps to registers
// and adds up every hinge as it is defined, in double.
// Per-target include guard: this file is compiled once for each SIMD target.
#if defined(MLMARGIN_KERNEL_SHORT_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MLMARGIN_KERNEL_SHORT_ROWS_INL_H_
#undef MLMARGIN_KERNEL_SHORT_ROWS_INL_H_
#else
#define MLMARGIN_KERNEL_SHORT_ROWS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/element.h"
#include "kernel/row_kernel.h"
#include "kernel/threshold.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

struct ShortLabels {
  static constexpr size_t kMax = 64;
  float scores[kMax];     // Of the labels with a possible hinge.
  double high[kMax + 1];  // Their -t.
  double low[kMax + 1];   // Only filled in when any_low.
  size_t size;            // A multiple of two: there may be one more, which is below every class.
  bool any_low;
  uint64_t bits[kMaxShortClasses / 64 + 1];  // One for each class that is a label.
};

HWY_INLINE void FindLow(size_t size, ShortLabels* labels) {
  for (size_t j = 0; j < size; ++j) labels->low[j] = NegatedThreshold(labels->scores[j]).low;
  labels->low[size] = 0;
}

// False when the row is none for this kernel: more labels than fit, or one of score -inf.
template <typename Label, class Loader>
HWY_INLINE bool ReadShortLabels(const void* from, int64_t stride, int64_t columns,
                                const ScoreRow& scores, int64_t row, ShortLabels* labels,
                                BadLabels* bad) {
  constexpr uint32_t kInfinity = 0x7F800000, kNegativeInfinity = 0xFF800000;
  const int64_t label_step = stride * static_cast<int64_t>(sizeof(Label));
  const int64_t score_step = scores.stride * static_cast<int64_t>(sizeof(typename Loader::Element));
  const int64_t bad_before = bad->count;
  std::fill(std::begin(labels->bits), std::end(labels->bits), 0);
  size_t size = 0;
  bool any_low = false;
  for (int64_t column = 0; column < columns; ++column) {
    const auto label =
        static_cast<int64_t>(LoadUnaligned<Label>(Offset(from, column * label_step)));
    if (label == -1) break;
    const auto index = static_cast<uint64_t>(label);
    if (HWY_UNLIKELY(index >= static_cast<uint64_t>(scores.classes))) {
      NoteBadLabel(row, column, label, bad);
      continue;
    }
    const float score = LoadScore(Loader::kType, Offset(scores.data, label * score_step));
    const auto score_bits = std::bit_cast<uint32_t>(score);
    if (HWY_UNLIKELY(size == ShortLabels::kMax || score_bits == kNegativeInfinity)) {
      // It will be read once more.
      if (bad_before == 0) *bad = BadLabels();
      bad->count = bad_before;
      return false;
    }
    labels->bits[index / 64] |= uint64_t{1} << (index % 64);
    labels->scores[size] = score;
    labels->high[size] = 1.0 - static_cast<double>(score);
    // NaN and +inf have no hinge.
    const bool finite = (score_bits & 0x7FFFFFFFu) < kInfinity;
    size += finite ? 1 : 0;
    any_low |= finite & MayHaveLow(score);
  }
  labels->high[size] = std::numeric_limits<double>::lowest();
  labels->size = size + size % 2;
  labels->any_low = any_low;
  if (HWY_UNLIKELY(any_low)) FindLow(size, labels);
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
HWY_INLINE void WriteShortMask(const Row& row, const ShortLabels& labels, Element one) {
  const hn::CappedTag<Element, kLanes> d;
  constexpr size_t kStep = hn::MaxLanes(d);
  const auto classes = static_cast<size_t>(row.scores.classes);
  if (HWY_LIKELY(row.mask_stride == 1 && classes >= kLanes)) {
    const auto ones = hn::Set(d, one);
    const auto write = [&](size_t first, uint32_t bits) MLMARGIN_LAMBDA {
      auto* const to = static_cast<Element*>(row.mask) + first;
      for (size_t i = 0; i < kLanes; i += kStep) {
        hn::StoreU(hn::IfThenElseZero(LabelMask(d, bits, i), ones), d, to + i);
      }
    };
    size_t i = 0;
    for (; i + kLanes <= classes; i += kLanes) write(i, LabelBitsAt(labels, i));
    // Over some of the same classes again.
    if (i < classes) write(classes - kLanes, LabelBitsFrom(labels, classes - kLanes));
    return;
  }
  for (size_t i = 0; i < classes; ++i) {
    StoreMaskElement(row, static_cast<int64_t>(i), (labels.bits[i / 64] >> (i % 64) & 1) != 0);
  }
}

template <bool kLow>
HWY_INLINE DoubleVec PairOfHinges(DoubleVec y, const ShortLabels& labels, size_t j) {
  const Doubles dd;
  DoubleVec a = hn::Add(hn::Set(dd, labels.high[j]), y);
  DoubleVec b = hn::Add(hn::Set(dd, labels.high[j + 1]), y);
  if constexpr (kLow) {
    a = hn::Add(a, hn::Set(dd, labels.low[j]));
    b = hn::Add(b, hn::Set(dd, labels.low[j + 1]));
  }
  return hn::Add(PositivePart(a), PositivePart(b));
}

// Adds the hinges of kLanes classes, but those that `excluded` has a bit for. kPairs is half the
// number of labels, or zero for any number.
template <class Loader, size_t kPairs, bool kLow>
HWY_INLINE void AddShort(const typename Loader::Element* HWY_RESTRICT scores, uint32_t excluded,
                         const ShortLabels& labels, DoubleVec* HWY_RESTRICT sums) {
  constexpr size_t kVectors = kLanes / kDoubleLanes;
  const Doubles dd;
  const size_t num_labels = kPairs == 0 ? labels.size : 2 * kPairs;
  DoubleVec y[kVectors];
  DoubleVec hinges[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    y[v] = LoadDoubleVec<Loader>(scores + v * kDoubleLanes);
    hinges[v] = PairOfHinges<kLow>(y[v], labels, 0);
  }
  for (size_t j = 2; j < num_labels; j += 2) {
    for (size_t v = 0; v < kVectors; ++v) {
      hinges[v] = hn::Add(hinges[v], PairOfHinges<kLow>(y[v], labels, j));
    }
  }
  for (size_t v = 0; v < kVectors; ++v) {
    const auto counts = LabelMask(dd, ~excluded, v * kDoubleLanes);
#if HWY_TARGET <= HWY_AVX3
    sums[v] = hn::IfThenElse(counts, hn::Add(sums[v], hinges[v]), sums[v]);
#else
    sums[v] = hn::Add(sums[v], hn::IfThenElseZero(counts, hinges[v]));
#endif
  }
}

// The row has at least kLanes classes.
template <class Loader, size_t kPairs, bool kLow>
HWY_INLINE double SumShortRow(const typename Loader::Element* HWY_RESTRICT scores, size_t classes,
                              const ShortLabels& labels) {
  constexpr size_t kVectors = kLanes / kDoubleLanes;
  const Doubles dd;
  DoubleVec sums[kVectors];
  for (size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(dd);
  size_t i = 0;
  for (; i + kLanes <= classes; i += kLanes) {
    AddShort<Loader, kPairs, kLow>(scores + i, LabelBitsAt(labels, i), labels, sums);
  }
  if (i < classes) {
    // Over some of the same classes again, which are not to count.
    const size_t begin = classes - kLanes;
    const uint32_t seen = (uint32_t{1} << (i - begin)) - 1;
    AddShort<Loader, kPairs, kLow>(scores + begin, LabelBitsFrom(labels, begin) | seen, labels,
                                   sums);
  }
  HWY_ALIGN double lanes[kLanes];
  for (size_t v = 0; v < kVectors; ++v) hn::Store(sums[v], dd, lanes + v * kDoubleLanes);
  return SumOfVirtualLanes(lanes);
}

template <class Loader>
HWY_NOINLINE double SumShortScores(const typename Loader::Element* scores, size_t classes,
                                   const ShortLabels& labels) {
  if (HWY_UNLIKELY(labels.any_low)) return SumShortRow<Loader, 0, true>(scores, classes, labels);
  switch (labels.size) {
    case 2:
      return SumShortRow<Loader, 1, false>(scores, classes, labels);
    case 4:
      return SumShortRow<Loader, 2, false>(scores, classes, labels);
    default:
      return SumShortRow<Loader, 0, false>(scores, classes, labels);
  }
}

// The scores of a row that has less than a virtual vector of them, or strides, as it were
// contiguous and filled up with what cannot have a hinge.
struct ShortCopy {
  float scores[kMaxShortClasses];
};

template <class Loader>
HWY_INLINE double SumShort(const Row& row, const ShortLabels& labels) {
  using Element = typename Loader::Element;
  const auto classes = static_cast<size_t>(row.scores.classes);
  if (labels.size == 0) return 0;
  if (HWY_LIKELY(row.scores.stride == 1 && classes >= kLanes)) {
    return SumShortScores<Loader>(static_cast<const Element*>(row.scores.data), classes, labels);
  }
  ShortCopy copy;
  const int64_t step = row.scores.stride * static_cast<int64_t>(sizeof(Element));
  for (size_t i = 0; i < classes; ++i) {
    copy.scores[i] =
        LoadScore(Loader::kType, Offset(row.scores.data, static_cast<int64_t>(i) * step));
  }
  const size_t padded = std::max(classes, kLanes);
  std::fill(copy.scores + classes, copy.scores + padded, -std::numeric_limits<float>::infinity());
  return SumShortScores<LoadFloat32>(copy.scores, padded, labels);
}

template <typename Label, class Loader>
HWY_INLINE int64_t SumShortRowsTyped(const LossArguments& args, int64_t begin, int64_t end,
                                     double* HWY_RESTRICT sums, BadLabels* bad) {
  Row row;
  row.scores.stride = args.scores.column_stride;
  row.scores.classes = args.classes;
  row.scores.type = Loader::kType;
  row.mask_stride = args.mask.column_stride;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(typename Loader::Element));
  // Without columns there may be no data either, and nothing to add to.
  const int64_t label_bytes =
      args.label_columns == 0 ? 0 : args.labels.row_stride * static_cast<int64_t>(sizeof(Label));
  constexpr int64_t kRowsAhead = 8;
  ShortLabels labels;
  for (int64_t n = begin; n < end; ++n) {
    // The labels lie too far apart for the processor's own prefetching.
    hwy::Prefetch(static_cast<const char*>(
        Offset(args.labels.data, std::min(n + kRowsAhead, end - 1) * label_bytes)));
    row.scores.data = Offset(args.scores.data, n * args.scores.row_stride * kBytes);
    if (!ReadShortLabels<Label, Loader>(Offset(args.labels.data, n * label_bytes),
                                        args.labels.column_stride, args.label_columns, row.scores,
                                        n, &labels, bad)) {
      return n;
    }
    if (args.mask.data != nullptr) {
      row.mask = Offset(args.mask.data, n * args.mask.row_stride * kBytes);
      WriteShortMask(row, labels, Loader::One());
    }
    sums[n - begin] = SumShort<Loader>(row, labels);
  }
  return end;
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
