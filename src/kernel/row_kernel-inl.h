// SPDX-License-Identifier: Apache-2.0
// Per-target include guard: this file is compiled once for each SIMD target.
#if defined(MLMARGIN_KERNEL_ROW_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MLMARGIN_KERNEL_ROW_KERNEL_INL_H_
#undef MLMARGIN_KERNEL_ROW_KERNEL_INL_H_
#else
#define MLMARGIN_KERNEL_ROW_KERNEL_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <limits>

#include "hwy/highway.h"
#include "kernel/element.h"
#include "kernel/row_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Every target adds in the order of a machine with this many lanes, so that the bits agree.
inline constexpr size_t kLanes = 8;
using Doubles = hn::CappedTag<double, kLanes>;
using DoubleVec = hn::Vec<Doubles>;
inline constexpr size_t kHardwareLanes = hn::MaxLanes(Doubles());
inline constexpr size_t kVectors = kLanes / kHardwareLanes;

// A class with this score adds nothing: the hinge against it is -inf or NaN.
inline constexpr double kNoScore = -std::numeric_limits<double>::infinity();

// ---- Scores to double ----------------------------------------------------------------------

struct LoadFloat32 {
  static constexpr ScoreType kType = ScoreType::kFloat32;
  using Element = float;
  static HWY_INLINE DoubleVec Load(const void* from) {
    const hn::Rebind<float, Doubles> d;
    return hn::PromoteTo(Doubles(), hn::LoadU(d, static_cast<const float*>(from)));
  }
};

struct LoadBFloat16 {
  static constexpr ScoreType kType = ScoreType::kBFloat16;
  using Element = uint16_t;
  static HWY_INLINE DoubleVec Load(const void* from) {
    const hn::Rebind<uint16_t, Doubles> d16;
    const hn::Rebind<uint32_t, Doubles> d32;
    const hn::Rebind<float, Doubles> df;
    const auto bits = hn::LoadU(d16, static_cast<const uint16_t*>(from));
    return hn::PromoteTo(Doubles(), hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits))));
  }
};

// As Float16ToFloat: Highway 1.0.3's own promotion is wrong for infinities and NaN on some
// targets.
struct LoadFloat16 {
  static constexpr ScoreType kType = ScoreType::kFloat16;
  using Element = uint16_t;
  static HWY_INLINE DoubleVec Load(const void* from) {
    const hn::Rebind<uint16_t, Doubles> d16;
    const hn::Rebind<uint32_t, Doubles> d32;
    const hn::Rebind<float, Doubles> df;
    const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, static_cast<const uint16_t*>(from)));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d32, 0x8000u)));
    const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(d32, 0x7FFFu)));
    const auto scaled = hn::Mul(hn::BitCast(df, magnitude), hn::Set(df, 0x1p112f));
    const auto infinity = hn::Set(d32, 0x7F800000u);
    const auto special = hn::Eq(hn::And(bits, hn::Set(d32, 0x7C00u)), hn::Set(d32, 0x7C00u));
    const auto value =
        hn::IfThenElse(special, hn::Or(magnitude, infinity), hn::BitCast(d32, scaled));
    return hn::PromoteTo(Doubles(), hn::BitCast(df, hn::Or(value, sign)));
  }
};

// Converts `count` <= kBlockClasses scores and pads them to whole virtual vectors.
template <class Loader>
HWY_INLINE void LoadBlock(const void* from, int64_t stride, size_t count, double* HWY_RESTRICT to) {
  const Doubles d;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(typename Loader::Element));
  size_t i = 0;
  if (stride == 1) {
    for (; i + kHardwareLanes <= count; i += kHardwareLanes) {
      hn::Store(Loader::Load(Offset(from, static_cast<int64_t>(i) * kBytes)), d, to + i);
    }
  }
  for (; i < count; ++i) {
    to[i] = LoadScore(Loader::kType, Offset(from, static_cast<int64_t>(i) * stride * kBytes));
  }
  const size_t padded = hwy::RoundUpTo(count, kLanes);
  std::fill(to + count, to + padded, kNoScore);
}

// ---- Hinges --------------------------------------------------------------------------------

// max(0, high + score + low) of one label against a vector of classes, with NaN as 0. When the
// first sum cancels it is exact (Sterbenz), so `low` enters unharmed; else `low` is far below it.
template <bool kTwoParts>
HWY_INLINE DoubleVec Hinge(DoubleVec scores, double high, double low) {
  const Doubles d;
  DoubleVec sum = hn::Add(hn::Set(d, high), scores);
  if constexpr (kTwoParts) sum = hn::Add(sum, hn::Set(d, low));
  return hn::IfThenElseZero(hn::Gt(sum, hn::Zero(d)), sum);
}

// The hinges of kLabels (1 to 4) labels against one vector of classes. Absent labels would add
// zeros, so a group of any size has the bits of a full one.
template <int kLabels, bool kTwoParts>
HWY_INLINE DoubleVec GroupHinge(DoubleVec scores, const double* high, const double* low) {
  DoubleVec sum = Hinge<kTwoParts>(scores, high[0], low[0]);
  if constexpr (kLabels > 1) sum = hn::Add(sum, Hinge<kTwoParts>(scores, high[1], low[1]));
  if constexpr (kLabels > 2) {
    DoubleVec other = Hinge<kTwoParts>(scores, high[2], low[2]);
    if constexpr (kLabels > 3) other = hn::Add(other, Hinge<kTwoParts>(scores, high[3], low[3]));
    sum = hn::Add(sum, other);
  }
  return sum;
}

// The sum over `padded` scores (a multiple of kLanes) of the hinges of a group of labels.
template <int kLabels, bool kTwoParts>
HWY_INLINE double GroupSum(const double* HWY_RESTRICT scores, size_t padded, const double* high,
                           const double* low) {
  const Doubles d;
  DoubleVec sums[kVectors];
  for (DoubleVec& sum : sums) sum = hn::Zero(d);
  for (size_t i = 0; i < padded; i += kLanes) {
    for (size_t v = 0; v < kVectors; ++v) {
      const DoubleVec x = hn::Load(d, scores + i + v * kHardwareLanes);
      sums[v] = hn::Add(sums[v], GroupHinge<kLabels, kTwoParts>(x, high, low));
    }
  }
  HWY_ALIGN double lanes[kLanes];
  for (size_t v = 0; v < kVectors; ++v) hn::Store(sums[v], d, lanes + v * kHardwareLanes);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// The sum over a block for all labels of the row, in groups of four.
template <bool kTwoParts>
HWY_INLINE double BlockSum(const double* HWY_RESTRICT scores, size_t padded,
                           const LabelList& labels) {
  const double* high = labels.high();
  const double* low = labels.low();
  double sum = 0;
  int64_t left = labels.size();
  for (; left >= 4; left -= 4, high += 4, low += 4) {
    sum += GroupSum<4, kTwoParts>(scores, padded, high, low);
  }
  switch (left) {
    case 3:
      return sum + GroupSum<3, kTwoParts>(scores, padded, high, low);
    case 2:
      return sum + GroupSum<2, kTwoParts>(scores, padded, high, low);
    case 1:
      return sum + GroupSum<1, kTwoParts>(scores, padded, high, low);
    default:
      return sum;
  }
}

// ---- Mask ----------------------------------------------------------------------------------

inline void StoreMaskElement(const Row& row, int64_t index, bool is_label) {
  void* const to = Offset(row.mask, index * row.mask_stride * ScoreBytes(row.type));
  if (row.type == ScoreType::kFloat32) {
    StoreUnaligned(is_label ? 1.0f : 0.0f, to);
  } else {
    StoreUnaligned(is_label ? OneBits16(row.type) : uint16_t{0}, to);
  }
}

inline void ClearMask(const Row& row, int64_t begin, int64_t end) {
  if (row.mask_stride == 1) {
    const int64_t bytes = ScoreBytes(row.type);
    std::memset(Offset(row.mask, begin * bytes), 0, static_cast<size_t>((end - begin) * bytes));
    return;
  }
  for (int64_t i = begin; i < end; ++i) StoreMaskElement(row, i, false);
}

// ---- A range of classes --------------------------------------------------------------------

template <class Loader>
HWY_INLINE double SumRangeTyped(const Row& row, int64_t begin, int64_t end) {
  HWY_ALIGN double scores[kBlockClasses];
  const LabelList& labels = *row.labels;
  double sum = 0;
  for (int64_t block = begin; block < end; block += kBlockClasses) {
    const int64_t block_end = std::min(block + kBlockClasses, end);
    const auto count = static_cast<size_t>(block_end - block);
    if (row.mask != nullptr) ClearMask(row, block, block_end);
    if (labels.size() == 0) continue;
    constexpr auto kBytes = static_cast<int64_t>(sizeof(typename Loader::Element));
    LoadBlock<Loader>(Offset(row.scores, block * row.score_stride * kBytes), row.score_stride,
                      count, scores);
    for (int64_t l = 0; l < labels.size(); ++l) {
      const int64_t label = labels.classes()[l];
      if (label < block || label >= block_end) continue;
      scores[label - block] = kNoScore;
      if (row.mask != nullptr) StoreMaskElement(row, label, true);
    }
    const size_t padded = hwy::RoundUpTo(count, kLanes);
    sum += labels.any_low() ? BlockSum<true>(scores, padded, labels)
                            : BlockSum<false>(scores, padded, labels);
  }
  return sum;
}

double SumRangeOnTarget(const Row& row, int64_t begin, int64_t end) {
  switch (row.type) {
    case ScoreType::kFloat32:
      return SumRangeTyped<LoadFloat32>(row, begin, end);
    case ScoreType::kFloat16:
      return SumRangeTyped<LoadFloat16>(row, begin, end);
    case ScoreType::kBFloat16:
      break;
  }
  return SumRangeTyped<LoadBFloat16>(row, begin, end);
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
