// SPDX-License-Identifier: Apache-2.0
// The row kernel for few labels: every class against every label, counting.
// Per-target include guard: this file is compiled once for each SIMD target.
#if defined(MLMARGIN_KERNEL_PAIRWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MLMARGIN_KERNEL_PAIRWISE_INL_H_
#undef MLMARGIN_KERNEL_PAIRWISE_INL_H_
#else
#define MLMARGIN_KERNEL_PAIRWISE_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <span>

#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/gradient-inl.h"
#include "kernel/threshold.h"
#include "kernel/thresholds-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

// At most this many labels at a time.
inline constexpr size_t kMaxPairLabels = kMaxFewLabels;

// With t the lowest of the thresholds t[j], the hinges of class score y are
//
//   sum over active j of (y - t[j]) = count * (y - t) - sum over active j of (t[j] - t),
//
// where j is active when y > t[j]. So comparing and counting is all that has to be done for a
// pair; it is exact. The difference cannot cancel: the lowest label alone makes the sum at least
// 1/kMaxPairLabels of its minuend.
//
// The first try takes the products' sum apart too, into those of count * y and of count, and lets
// NaN and infinities pass. If what comes out is not finite, or is small beside what was added up
// for it, there is a second one without either.
struct PairLabels {
  size_t size;
  float scores[kMaxPairLabels];  // The lowest first.
  float thresholds[kMaxPairLabels];
  double high, low;  // -t.
  size_t lowest;     // Where the first one stood; what stood first is there.

  PairLabels(const LabelList& labels, size_t first, size_t count) : size(count) {
    const std::span<const float> from = labels.scores().subspan(first, count);
    std::copy_n(from.data(), count, scores);
    std::copy_n(labels.thresholds() + first, count, thresholds);
    lowest = static_cast<size_t>(std::min_element(from.begin(), from.end()) - from.begin());
    std::swap(scores[0], scores[lowest]);
    std::swap(thresholds[0], thresholds[lowest]);
    const NegatedThreshold negated(scores[0]);
    high = negated.high;
    low = negated.low;
  }

  double Offset(size_t j) const {  // t[j] - t.
    return static_cast<double>(scores[j]) - static_cast<double>(scores[0]);
  }
};

// What is added up over a range.
struct PairSums {
  HWY_ALIGN double products[kLanes];  // count * (y - t), by class modulo kLanes.
  HWY_ALIGN int32_t active[kMaxPairLabels * kFloatLanes];  // Of each label, in any order.

  explicit PairSums(size_t labels) {
    const Doubles dd;
    const Ints di;
    for (size_t i = 0; i < kLanes; i += kDoubleLanes) hn::Store(hn::Zero(dd), dd, products + i);
    for (size_t j = 0; j < labels; ++j) hn::Store(hn::Zero(di), di, active + j * kFloatLanes);
  }

  int32_t Active(size_t j) const {
    const Ints di;
    return hn::GetLane(hn::SumOfLanes(di, hn::Load(di, active + j * kFloatLanes)));
  }
};

enum class PairMode {
  kFirst,          // Sums count * y.
  kSecond,         // Sums count * (y - t).
  kSecondWithLow,  // The same where t needs its low part.
};

// Adds kClasses classes, a multiple of kLanes. `active` tells which are above the lowest threshold.
// With kGradient, gradient[i] is set to scale times the number of thresholds below class i.
template <size_t kClasses, PairMode kMode, bool kGradient>
HWY_INLINE void AddClasses(const float* HWY_RESTRICT scores, const hn::Mask<Floats>* active,
                           const PairLabels& labels, PairSums* HWY_RESTRICT sums, double scale,
                           float* HWY_RESTRICT gradient) {
  constexpr size_t kVectors = kClasses / kFloatLanes;
  const Floats df;
  const Ints di;
  FloatVec y[kVectors];
  IntVec counts[kVectors];
  IntVec total = hn::Load(di, sums->active);
  for (size_t v = 0; v < kVectors; ++v) {
    y[v] = hn::LoadU(df, scores + v * kFloatLanes);
    counts[v] = CountIf(active[v], hn::Zero(di));
    total = CountIf(active[v], total);
  }
  hn::Store(total, di, sums->active);
  for (size_t j = 1; j < labels.size; ++j) {
    const FloatVec threshold = hn::Set(df, labels.thresholds[j]);
    total = hn::Load(di, sums->active + j * kFloatLanes);
    for (size_t v = 0; v < kVectors; ++v) {
      const auto above = hn::Gt(y[v], threshold);
      counts[v] = CountIf(above, counts[v]);
      total = CountIf(above, total);
    }
    hn::Store(total, di, sums->active + j * kFloatLanes);
  }
  HWY_ALIGN int32_t stored[kClasses];
  for (size_t v = 0; v < kVectors; ++v) hn::Store(counts[v], di, stored + v * kFloatLanes);
  KeepInMemory(scores);
  KeepInMemory(stored);

  const Doubles dd;
  const hn::Rebind<float, Doubles> half_float;
  const hn::Rebind<int32_t, Doubles> half_int;
  const DoubleVec high = hn::Set(dd, labels.high);
  const DoubleVec low = hn::Set(dd, labels.low);
  for (size_t lane = 0; lane < kLanes; lane += kDoubleLanes) {
    DoubleVec sum = hn::Load(dd, sums->products + lane);
    for (size_t i = lane; i < kClasses; i += kLanes) {
      DoubleVec factor = hn::PromoteTo(dd, hn::LoadU(half_float, scores + i));
      if constexpr (kMode != PairMode::kFirst) factor = hn::Add(high, factor);
      if constexpr (kMode == PairMode::kSecondWithLow) factor = hn::Add(factor, low);
      // What stands for no class may be -inf: the floor of the lowest score's threshold.
      if constexpr (kMode != PairMode::kFirst) factor = PositivePart(factor);
      const DoubleVec count = hn::PromoteTo(dd, hn::Load(half_int, stored + i));
      if constexpr (kMode == PairMode::kFirst) {
        // A float times so small a number is a double: fused or not, the bits are the same.
        sum = hn::MulAdd(count, factor, sum);
      } else {
        sum = hn::Add(sum, hn::Mul(count, factor));
      }
      if constexpr (kGradient) {
        StoreRounded(hn::Mul(count, hn::Set(dd, scale)), gradient + i);
      }
    }
    hn::Store(sum, dd, sums->products + lane);
  }
}

// What the counts say: how many pairs are active, and the sum of their t[j] - t.
struct PairTotals {
  double pairs = 0;
  double offsets = 0;

  PairTotals(const PairSums& sums, const PairLabels& labels) {
    for (size_t j = 0; j < labels.size; ++j) {
      const auto active = static_cast<double>(sums.Active(j));
      pairs += active;
      offsets += active * labels.Offset(j);
    }
  }
};

template <class Loader, PairMode kMode, class Gradient>
HWY_INLINE PairTotals AddRange(const Row& row, bool write_mask, int64_t begin, int64_t end,
                               const PairLabels& labels, Gradient* gradient,
                               PairSums* HWY_RESTRICT sums) {
  // As many classes as the registers hold.
  constexpr size_t kClasses = HWY_MAX(kLanes, 4 * kFloatLanes);
  constexpr bool kCarefully = kMode != PairMode::kFirst;
  HWY_ALIGN float clean[kGroup];
  HWY_ALIGN float values[kGroup];  // Of the gradient.
  const double scale = row.gradient.scale;
  const float lowest = labels.thresholds[0];
  constexpr bool kMayWrite = kMode == PairMode::kFirst;
  ForEachActiveGroup<Loader, kMayWrite>(
      row, write_mask, begin, end, lowest, gradient,
      [&](const Group& group, const float* scores, const ActiveMasks& active) MLMARGIN_LAMBDA {
        if (kCarefully || HWY_UNLIKELY(active.any_excluded)) {
          active.Clean(scores, lowest, clean);
          scores = clean;
        }
        for (size_t i = 0; i < kGroup; i += kClasses) {
          AddClasses<kClasses, kMode, Gradient::kWanted>(scores + i, active.masks + i / kFloatLanes,
                                                         labels, sums, scale, values + i);
        }
        if constexpr (Gradient::kWanted) gradient->StoreGroup(group, values);
      });
  return PairTotals(*sums, labels);
}

template <class Loader>
HWY_NOINLINE double SecondTry(const Row& row, int64_t begin, int64_t end,
                              const PairLabels& labels) {
  PairSums sums(labels.size);
  NoGradient none;
  const PairTotals totals =
      labels.low != 0
          ? AddRange<Loader, PairMode::kSecondWithLow>(row, false, begin, end, labels, &none, &sums)
          : AddRange<Loader, PairMode::kSecond>(row, false, begin, end, labels, &none, &sums);
  return SumOfVirtualLanes(sums.products) - totals.offsets;
}

// With a gradient there is one pass: the row has no index.
template <class Loader, class Gradient>
HWY_INLINE double SumRangePairwise(const Row& row, int64_t begin, int64_t end, Gradient* gradient) {
  const size_t num_labels = row.labels->scores().size();
  // Each lane has a rounding error for each of its additions; the last ones have some more.
  const double num_errors = static_cast<double>(end - begin) / kLanes + 64;
  double sum = 0;
  for (size_t first = 0; first < num_labels; first += kMaxPairLabels) {
    const PairLabels labels(*row.labels, first, std::min(kMaxPairLabels, num_labels - first));
    PairSums sums(labels.size);
    const bool write_mask = first == 0 && row.mask != nullptr;
    const PairTotals totals =
        AddRange<Loader, PairMode::kFirst>(row, write_mask, begin, end, labels, gradient, &sums);
    if constexpr (Gradient::kWanted) {
      for (size_t j = 0; j < labels.size; ++j) {
        const size_t place = j == 0 ? labels.lowest : j == labels.lowest ? 0 : j;
        AddCount(row.gradient, place, sums.Active(j));
      }
      if (!row.loss_wanted) return 0;
    }
    const double shift = labels.high * totals.pairs + labels.low * totals.pairs;
    const double products = SumOfVirtualLanes(sums.products) + shift;
    const double total = products - totals.offsets;
    // At least the sum of what was added up, taken positive: |y| <= (y - t) + |t|.
    const double size = std::abs(products) + 2 * std::abs(shift) + totals.offsets;
    const bool good = size * num_errors <= total * 0x1p23;
    sum += HWY_LIKELY(good) ? total : SecondTry<Loader>(row, begin, end, labels);
  }
  return sum;
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
