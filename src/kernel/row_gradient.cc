// SPDX-License-Identifier: Apache-2.0
// The kernels with a gradient. A file of their own, since these two take the compiler longer than
// all the rest.
#include <algorithm>

#include "kernel/row_kernel.h"
#include "kernel/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/row_gradient.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/gradient-inl.h"
#include "kernel/pairwise-inl.h"
#include "kernel/search-inl.h"
#include "kernel/short_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

template <class Loader>
HWY_NOINLINE double SumRangePairwiseGradient(const Row& row, int64_t begin, int64_t end) {
  GradientWriter<Loader> gradient(row.gradient);
  return SumRangePairwise<Loader>(row, begin, end, &gradient);
}

// Nothing but zeros, and the mask.
template <class Loader>
HWY_NOINLINE void SkipRange(const Row& row, int64_t begin, int64_t end) {
  GradientWriter<Loader> gradient(row.gradient);
  ForEachGroup<Loader>(row, row.mask != nullptr, begin, end, &gradient,
                       [&](const Group& group) MLMARGIN_LAMBDA { gradient.SkipGroup(group); });
}

template <class Loader>
double SumRangeGradientTyped(const Row& row, int64_t begin, int64_t end) {
  if (row.labels->scores().empty()) {
    SkipRange<Loader>(row, begin, end);
    return 0;
  }
  // Pairs are counted in 32 bits.
  constexpr int64_t kMaxClasses = int64_t{1} << 30;
  double sum = 0;
  for (int64_t at = begin; at < end; at += kMaxClasses) {
    const int64_t to = std::min(at + kMaxClasses, end);
    sum += row.index != nullptr ? SumRangeSearchGradient<Loader>(row, at, to)
                                : SumRangePairwiseGradient<Loader>(row, at, to);
  }
  return sum;
}

double SumRangeGradientOfType(const Row& row, int64_t begin, int64_t end) {
  switch (row.scores.type) {
    case ScoreType::kFloat32:
      return SumRangeGradientTyped<LoadFloat32>(row, begin, end);
    case ScoreType::kFloat16:
      return SumRangeGradientTyped<LoadFloat16>(row, begin, end);
    default:
      return SumRangeGradientTyped<LoadBFloat16>(row, begin, end);
  }
}

double SumRangeGradientOnTarget(const Row& row, int64_t begin, int64_t end) {
  const double sum = SumRangeGradientOfType(row, begin, end);
  if (row.stream_mask) hwy::FlushStream();
  return sum;
}

template <typename Label>
HWY_INLINE int64_t SumShortRowsGradientOfLabels(const LossArguments& args, int64_t begin,
                                                int64_t end, double* sums, BadLabels* bad) {
  switch (args.score_type) {
    case ScoreType::kFloat32:
      return SumShortRowsTyped<Label, LoadFloat32, true>(args, begin, end, sums, bad);
    case ScoreType::kFloat16:
      return SumShortRowsTyped<Label, LoadFloat16, true>(args, begin, end, sums, bad);
    default:
      return SumShortRowsTyped<Label, LoadBFloat16, true>(args, begin, end, sums, bad);
  }
}

int64_t SumShortRowsGradientOnTarget(const LossArguments& args, int64_t begin, int64_t end,
                                     double* sums, BadLabels* bad) {
  return args.label_type == LabelType::kInt32
             ? SumShortRowsGradientOfLabels<int32_t>(args, begin, end, sums, bad)
             : SumShortRowsGradientOfLabels<int64_t>(args, begin, end, sums, bad);
}

template <size_t kLevels>
HWY_INLINE void CountBelowAll(const ThresholdIndex& index, const float* HWY_RESTRICT keys,
                              size_t count, int32_t* HWY_RESTRICT counts) {
  const TreeLevels tree(index);
  for (size_t i = 0; i < count; ++i) {
    counts[i] = static_cast<int32_t>(CountBelow<kLevels>(tree.levels, tree.size, keys[i]));
  }
}

void CountBelowOnTarget(const ThresholdIndex& index, const float* keys, size_t count,
                        int32_t* counts) {
  switch (index.tree().levels) {
    case 2:
      return CountBelowAll<2>(index, keys, count, counts);
    case 3:
      return CountBelowAll<3>(index, keys, count, counts);
    case 4:
      return CountBelowAll<4>(index, keys, count, counts);
    default:
      return CountBelowAll<0>(index, keys, count, counts);
  }
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlmargin::kernel {

HWY_EXPORT(SumRangeGradientOnTarget);
HWY_EXPORT(SumShortRowsGradientOnTarget);
HWY_EXPORT(CountBelowOnTarget);

GradientKernels GradientKernelsInUse() {
  const size_t target = TargetIndex();
  return {HWY_DISPATCH_TABLE(SumRangeGradientOnTarget)[target],
          HWY_DISPATCH_TABLE(SumShortRowsGradientOnTarget)[target],
          HWY_DISPATCH_TABLE(CountBelowOnTarget)[target]};
}

}  // namespace mlmargin::kernel
#endif  // HWY_ONCE
