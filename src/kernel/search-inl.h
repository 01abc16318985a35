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
#include "kernel/gradient-inl.h"
#include "kernel/threshold_index.h"
#include "kernel/thresholds-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

// Scores above the lowest threshold, in the order of their classes, and what is found for each.
struct ActiveBuffer {
  static constexpr size_t kEnough = 1024;  // Then they are worked off.
  static constexpr size_t kCapacity = kEnough + kGroup + kLanes;
  HWY_ALIGN float scores[kCapacity];
  HWY_ALIGN int32_t positions[kCapacity];  // In their block; only for a gradient.
  HWY_ALIGN int32_t counts[kCapacity];     // Of the thresholds below.
  HWY_ALIGN float label_scores[kCapacity];
  HWY_ALIGN double bases[kCapacity];
  size_t size = 0;
  size_t looked_up = 0;
};

// The first score is that of the class at `position`.
template <bool kPositions>
HWY_INLINE void Append(const float* HWY_RESTRICT scores, const ActiveMasks& active,
                       [[maybe_unused]] size_t position, ActiveBuffer* HWY_RESTRICT buffer) {
  const Floats df;
  size_t size = buffer->size;
  for (size_t v = 0; v < kGroupVectors; ++v) {
    const auto mask = active.masks[v];
#if HWY_TARGET <= HWY_AVX3
    const FloatVec y = hn::LoadU(df, scores + v * kFloatLanes);
    hn::StoreU(hn::Compress(y, mask), df, buffer->scores + size);
    if constexpr (kPositions) {
      const Ints di;
      const IntVec positions = hn::Iota(di, static_cast<int32_t>(position + v * kFloatLanes));
      hn::StoreU(hn::Compress(positions, hn::RebindMask(di, mask)), di, buffer->positions + size);
    }
    size += hn::CountTrue(df, mask);
#else
    // Highway 1.0.3 copies the table for Compress to the stack each time.
    uint8_t bits[HWY_MAX(8, kFloatLanes / 8)];
    hn::StoreMaskBits(df, mask, bits);
    for (size_t i = 0; i < kFloatLanes; ++i) {
      buffer->scores[size] = scores[v * kFloatLanes + i];
      if constexpr (kPositions) {
        buffer->positions[size] = static_cast<int32_t>(position + v * kFloatLanes + i);
      }
      size += bits[i / 8] >> (i % 8) & 1;
    }
#endif
  }
  buffer->size = size;
}

// How many of a node's thresholds are below the key.
HWY_INLINE size_t CountBelowInNode(const float* HWY_RESTRICT node, FloatVec key) {
  constexpr auto kNode = static_cast<size_t>(ThresholdTree::kNode);
  const Floats df;
#if HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_SCALAR
  size_t below = 0;
  for (size_t i = 0; i < kNode; i += kFloatLanes) {
    below += hn::CountTrue(df, hn::Lt(hn::LoadU(df, node + i), key));
  }
  return below;
#else
  // Bits of narrow vectors are dear, to be had and to be counted.
  const Ints di;
  IntVec below = hn::Zero(di);
  for (size_t i = 0; i < kNode; i += kFloatLanes) {
    const auto mask = hn::Lt(hn::LoadU(df, node + i), key);
    below = hn::Sub(below, hn::BitCast(di, hn::VecFromMask(df, mask)));
  }
  return static_cast<size_t>(hn::GetLane(hn::SumOfLanes(di, below)));
#endif
}

// Where the levels of an index' tree begin.
struct TreeLevels {
  const float* levels[ThresholdTree::kMaxLevels];
  size_t size;

  explicit TreeLevels(const ThresholdIndex& index)
      : size(static_cast<size_t>(index.tree().levels)) {
    for (size_t l = 0; l < size; ++l) levels[l] = index.thresholds() + index.tree().begin[l];
  }
};

// The number of thresholds below y, of the tree whose levels begin at levels[0], levels[1], ...
template <size_t kLevels>
HWY_INLINE size_t CountBelow(const float* const* levels, size_t num_levels, float y) {
  constexpr auto kNode = static_cast<size_t>(ThresholdTree::kNode);
  const FloatVec key = hn::Set(Floats(), y);
  size_t count = 0;
  for (size_t level = kLevels != 0 ? kLevels : num_levels; level-- > 0;) {
    count = count * kNode + CountBelowInNode(levels[level] + kNode * count, key);
  }
  return count;
}

// The counts that are not there yet, and with them what the index has for each.
template <size_t kLevels>
HWY_INLINE void LookUp(const ThresholdIndex& index, ActiveBuffer* HWY_RESTRICT active) {
  const float* HWY_RESTRICT label_scores = index.scores();
  const double* HWY_RESTRICT bases = index.base();
  const TreeLevels tree(index);
  const size_t size = active->size;
  for (size_t i = active->looked_up; i < size; ++i) {
    const size_t count = CountBelow<kLevels>(tree.levels, tree.size, active->scores[i]);
    active->counts[i] = static_cast<int32_t>(count);
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

HWY_INLINE void LookUpAll(const ThresholdIndex& index, ActiveBuffer* HWY_RESTRICT active) {
  switch (index.tree().levels) {
    case 2:
      return LookUp<2>(index, active);
    case 3:
      return LookUp<3>(index, active);
    case 4:
      return LookUp<4>(index, active);
    default:
      return LookUp<0>(index, active);
  }
}

// The gradient of the search's pass, which knows a class's count only when it was looked up.
template <class Loader>
class SearchGradient {
 public:
  static constexpr bool kWanted = true;

  SearchGradient(const Row& row, ActiveBuffer* active)
      : gradient_(row.gradient), index_(*row.index), active_(*active), writer_(row.gradient) {}

  HWY_INLINE void BeginBlock(int64_t begin, int64_t end) { writer_.BeginBlock(begin, end); }
  HWY_INLINE void SkipGroup(const Group& group) { writer_.SkipGroup(group); }
  HWY_INLINE size_t Position(const Group& group) const { return writer_.Position(group); }

  // Of the classes collected so far, all of this block.
  HWY_INLINE void FinishLookUps() {
    LookUpAll(index_, &active_);
    const size_t begin = active_.looked_up, end = active_.size;
    for (size_t i = begin; i < end; ++i) {
      writer_.Replace(static_cast<size_t>(active_.positions[i]), active_.counts[i]);
    }
    if (gradient_.shared_counts) {
      for (size_t i = begin; i < end; ++i) {
        AddCount(gradient_, static_cast<size_t>(active_.counts[i]), 1);
      }
    } else {
      int64_t* const counts = gradient_.counts;
      for (size_t i = begin; i < end; ++i) ++counts[active_.counts[i]];
    }
    active_.looked_up = end;
  }

  HWY_INLINE void EndBlock() {
    FinishLookUps();
    writer_.EndBlock();
  }

 private:
  const RowGradient& gradient_;
  const ThresholdIndex& index_;
  ActiveBuffer& active_;
  GradientWriter<Loader> writer_;
};

HWY_INLINE void AddAllActive(const ThresholdIndex& index, ActiveBuffer* HWY_RESTRICT active,
                             double* HWY_RESTRICT lanes) {
  if (index.any_low()) {
    AddActive<true>(*active, lanes);
  } else {
    AddActive<false>(*active, lanes);
  }
  active->size = 0;
  active->looked_up = 0;
}

template <class Loader>
HWY_NOINLINE double SumRangeSearch(const Row& row, int64_t begin, int64_t end) {
  const ThresholdIndex& index = *row.index;
  ActiveBuffer active;
  HWY_ALIGN double lanes[kLanes] = {};
  const auto work_off = [&]() MLMARGIN_LAMBDA {
    LookUpAll(index, &active);
    AddAllActive(index, &active, lanes);
  };
  NoGradient none;
  ForEachActiveGroup<Loader>(row, row.mask != nullptr, begin, end, index.thresholds()[0], &none,
                             [&](const Group&, const float* scores, const ActiveMasks& masks)
                                 MLMARGIN_LAMBDA {
                                   Append<false>(scores, masks, 0, &active);
                                   if (active.size >= ActiveBuffer::kEnough) work_off();
                                 });
  work_off();
  return SumOfVirtualLanes(lanes);
}

// The same with the gradient; the sum has the same bits.
template <class Loader>
HWY_NOINLINE double SumRangeSearchGradient(const Row& row, int64_t begin, int64_t end) {
  const ThresholdIndex& index = *row.index;
  ActiveBuffer active;
  HWY_ALIGN double lanes[kLanes] = {};
  SearchGradient<Loader> gradient(row, &active);
  const auto add = [&]() MLMARGIN_LAMBDA {
    if (row.loss_wanted) {
      AddAllActive(index, &active, lanes);
    } else {
      active.size = active.looked_up = 0;
    }
  };
  ForEachActiveGroup<Loader>(row, row.mask != nullptr, begin, end, index.thresholds()[0], &gradient,
                             [&](const Group& group, const float* scores, const ActiveMasks& masks)
                                 MLMARGIN_LAMBDA {
                                   gradient.SkipGroup(group);
                                   Append<true>(scores, masks, gradient.Position(group), &active);
                                   if (active.size < ActiveBuffer::kEnough) return;
                                   gradient.FinishLookUps();
                                   add();
                                 });
  add();
  return SumOfVirtualLanes(lanes);
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
