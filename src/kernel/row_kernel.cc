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
#include "hwy/highway.h"
#include "kernel/active_scores-inl.h"
#include "kernel/pairwise-inl.h"
#include "kernel/search-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::kernel::HWY_NAMESPACE {

// A label of score -inf has an infinite hinge with every class above -inf.
template <class Loader>
HWY_NOINLINE double SumRangeInfinite(const Row& row, int64_t begin, int64_t end) {
  bool any = false;
  ForEachActiveGroup<Loader>(row, row.mask != nullptr, begin, end,
                             -std::numeric_limits<float>::infinity(),
                             [&](const float*) MLMARGIN_LAMBDA { any = true; });
  return any ? std::numeric_limits<double>::infinity() : 0.0;
}

template <class Loader>
double SumRangeTyped(const Row& row, int64_t begin, int64_t end) {
  if (std::isinf(row.labels->scores()[0])) return SumRangeInfinite<Loader>(row, begin, end);
  // Pairs are counted in 32 bits.
  constexpr int64_t kMaxClasses = int64_t{1} << 30;
  double sum = 0;
  for (int64_t at = begin; at < end; at += kMaxClasses) {
    const int64_t to = std::min(at + kMaxClasses, end);
    switch (row.kernel) {
      case RowKernel::kPairwise:
        sum += SumRangePairwise<Loader>(row, at, to);
        break;
      case RowKernel::kSearch:
        sum += SumRangeSearch<Loader>(row, at, to);
        break;
    }
  }
  return sum;
}

// No label can have a hinge.
void WriteMaskOnly(const Row& row, int64_t begin, int64_t end) {
  if (row.mask == nullptr) return;
  ForEachGroup(row, begin, end, [&](const Group& group) MLMARGIN_LAMBDA { WriteMask(row, group); });
}

double SumRangeOnTarget(const Row& row, int64_t begin, int64_t end) {
  double sum = 0;
  if (row.labels->scores().empty()) {
    WriteMaskOnly(row, begin, end);
  } else {
    switch (row.scores.type) {
      case ScoreType::kFloat32:
        sum = SumRangeTyped<LoadFloat32>(row, begin, end);
        break;
      case ScoreType::kFloat16:
        sum = SumRangeTyped<LoadFloat16>(row, begin, end);
        break;
      case ScoreType::kBFloat16:
        sum = SumRangeTyped<LoadBFloat16>(row, begin, end);
        break;
    }
  }
  return sum;
}

}  // namespace mlmargin::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlmargin::kernel {
namespace {

std::optional<RowKernel> forced_kernel;

}  // namespace

void ForceRowKernel(std::optional<RowKernel> kernel) { forced_kernel = kernel; }

RowKernel ChooseRowKernel(int64_t classes, int64_t labels) {
  constexpr int64_t kFewClasses = 256;
  constexpr int64_t kFewLabels = 64;
  if (labels > ThresholdIndex::kMaxLabels) return RowKernel::kPairwise;
  if (forced_kernel.has_value()) return *forced_kernel;
  const bool many = labels > kFewLabels && classes > kFewClasses;
  return many ? RowKernel::kSearch : RowKernel::kPairwise;
}

HWY_EXPORT(SumRangeOnTarget);

SumRangeFunction SumRange() { return HWY_DISPATCH_TABLE(SumRangeOnTarget)[TargetIndex()]; }

}  // namespace mlmargin::kernel
#endif  // HWY_ONCE
