// SPDX-License-Identifier: Apache-2.0
#include "kernel/row_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/row_kernel.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/pairwise-inl.h"
#include "kernel/search-inl.h"
#include "kernel/short_rows-inl.h"
#include "kernel/thresholds-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

// A label of score -inf has an infinite hinge with every class above -inf.
template <class Loader>
HWY_NOINLINE double SumRangeInfinite(const Row& row, int64_t begin, int64_t end) {
  bool any = false;
  NoGradient none;
  ForEachActiveGroup<Loader>(
      row, row.mask != nullptr, begin, end, -std::numeric_limits<float>::infinity(), &none,
      [&](const Group&, const float*, const ActiveMasks&) MLMARGIN_LAMBDA { any = true; });
  return any ? std::numeric_limits<double>::infinity() : 0.0;
}

template <class Loader>
double SumRangeTyped(const Row& row, int64_t begin, int64_t end) {
  NoGradient none;
  if (row.labels->scores().empty()) {
    if (row.mask != nullptr) {
      ForEachGroup<Loader>(row, true, begin, end, &none, [](const Group&) {});
    }
    return 0;
  }
  if (row.labels->any_infinite()) return SumRangeInfinite<Loader>(row, begin, end);
  // Pairs are counted in 32 bits.
  constexpr int64_t kMaxClasses = int64_t{1} << 30;
  static_assert(kMaxClasses % LabelList::kSliceClasses == 0);
  double sum = 0;
  for (int64_t at = begin; at < end; at += kMaxClasses) {
    const int64_t to = std::min(at + kMaxClasses, end);
    sum += row.kernel == RowKernel::kSearch ? SumRangeSearch<Loader>(row, at, to)
                                            : SumRangePairwise<Loader>(row, at, to, &none);
  }
  return sum;
}

double SumRangeOfType(const Row& row, int64_t begin, int64_t end) {
  switch (row.scores.type) {
    case ScoreType::kFloat32:
      return SumRangeTyped<LoadFloat32>(row, begin, end);
    case ScoreType::kFloat16:
      return SumRangeTyped<LoadFloat16>(row, begin, end);
    default:
      break;
  }
  return SumRangeTyped<LoadBFloat16>(row, begin, end);
}

double SumRangeOnTarget(const Row& row, int64_t begin, int64_t end) {
  const double sum = SumRangeOfType(row, begin, end);
  if (row.stream_mask) hwy::FlushStream();
  return sum;
}

template <typename Label>
HWY_INLINE int64_t SumShortRowsOfLabels(const LossArguments& args, int64_t begin, int64_t end,
                                        double* sums, BadLabels* bad) {
  switch (args.score_type) {
    case ScoreType::kFloat32:
      return SumShortRowsTyped<Label, LoadFloat32, false>(args, begin, end, sums, bad);
    case ScoreType::kFloat16:
      return SumShortRowsTyped<Label, LoadFloat16, false>(args, begin, end, sums, bad);
    default:
      break;
  }
  return SumShortRowsTyped<Label, LoadBFloat16, false>(args, begin, end, sums, bad);
}

int64_t SumShortRowsOnTarget(const LossArguments& args, int64_t begin, int64_t end, double* sums,
                             BadLabels* bad) {
  return args.label_type == LabelType::kInt32
             ? SumShortRowsOfLabels<int32_t>(args, begin, end, sums, bad)
             : SumShortRowsOfLabels<int64_t>(args, begin, end, sums, bad);
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlmargin::kernel {
namespace {

std::optional<RowKernel> forced_kernel;
std::optional<bool> forced_stream;

}  // namespace

void ForceRowKernel(std::optional<RowKernel> kernel) { forced_kernel = kernel; }
void ForceStream(std::optional<bool> stream) { forced_stream = stream; }

bool UseStream(double bytes) {
  // So large an output would leave the caches before anyone reads it.
  constexpr double kLargeBytes = 32 << 20;
  return forced_stream.value_or(bytes >= kLargeBytes);
}

bool UseShortRows(int64_t classes) {
  if (forced_kernel.has_value() && *forced_kernel != RowKernel::kShort) return false;
  return classes <= kMaxShortClasses;
}

RowKernel ChooseRowKernel(int64_t labels) {
  if (labels > ThresholdIndex::kMaxLabels) return RowKernel::kPairwise;
  if (forced_kernel == RowKernel::kPairwise || forced_kernel == RowKernel::kSearch) {
    return *forced_kernel;
  }
  return labels > kMaxFewLabels ? RowKernel::kSearch : RowKernel::kPairwise;
}

bool FusesGradient(const Row& row) {
  return !row.labels->any_infinite() &&
         (row.index != nullptr) == (row.kernel == RowKernel::kSearch);
}

HWY_EXPORT(SumRangeOnTarget);
HWY_EXPORT(SumShortRowsOnTarget);
HWY_EXPORT(FindThresholdsOnTarget);

RowKernels KernelsInUse() {
  const size_t target = TargetIndex();
  return {HWY_DISPATCH_TABLE(SumRangeOnTarget)[target],
          HWY_DISPATCH_TABLE(SumShortRowsOnTarget)[target],
          HWY_DISPATCH_TABLE(FindThresholdsOnTarget)[target]};
}

}  // namespace mlmargin::kernel
#endif  // HWY_ONCE
