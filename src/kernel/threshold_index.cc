// SPDX-License-Identifier: Apache-2.0
#include "kernel/threshold_index.h"

#include <algorithm>
#include <limits>
#include <new>
#include <span>

#include "hwy/contrib/sort/vqsort.h"
#include "kernel/threshold.h"

namespace mlmargin::kernel {

bool ThresholdIndex::Build(LabelList* labels, int64_t classes,
                           FindThresholdsFunction find_thresholds) {
  // Two a label keep the table small and most buckets at no more than two thresholds. Where more
  // cost little beside the classes, they leave more scores alone in their bucket. The four less pay
  // for the sentinels and the table's last entry, so that a row takes 32 bytes a label in all.
  constexpr int64_t kClassesPerBucket = 8;
  const std::span<float> scores = labels->scores();
  size_ = static_cast<int64_t>(scores.size());
  constexpr int64_t kMaxBuckets = 1 << 24;  // A float holds their numbers exactly.
  const int64_t few = std::min(classes / kClassesPerBucket, kInlineBuckets);
  const int64_t num_buckets = std::min(kMaxBuckets, std::max({int64_t{1}, 2 * size_ - 4, few}));
  if (!Reserve(num_buckets)) return false;
  hwy::Sorter()(scores.data(), scores.size(), hwy::SortAscending());
  scores_ = scores.data();
  thresholds_ = labels->mutable_thresholds();
  base_ = reinterpret_cast<double*>(labels->spare());

  const float lowest = FloorThreshold(scores.front());
  map_.lowest = lowest;
  map_.last = static_cast<int32_t>(num_buckets - 1);
  // A range of zero, or infinite, puts each threshold into the first bucket or the last.
  map_.scale = std::min(static_cast<float>(map_.last) / (FloorThreshold(scores.back()) - lowest),
                        std::numeric_limits<float>::max());
  // The buckets are only needed until the base is.
  auto* const buckets = reinterpret_cast<int32_t*>(labels->spare());
  find_thresholds(scores_, scores.size(), map_, thresholds_, buckets);
  std::fill_n(thresholds_ + size_, LabelList::kSentinels, std::numeric_limits<float>::infinity());
  FillBuckets(buckets);
  FindBase();
  return true;
}

void ThresholdIndex::FillBuckets(const int32_t* buckets) {
  int32_t* const first = first_;
  std::fill_n(first, map_.last + 2, 0);
  for (int64_t k = 0; k < size_; ++k) first[buckets[k] + 1] = static_cast<int32_t>(k + 1);
  int32_t so_far = 0;
  for (int32_t b = 1; b <= map_.last + 1; ++b) first[b] = so_far = std::max(so_far, first[b]);
  crowded_ = false;
  for (int64_t k = kCrowd; k < size_; ++k) crowded_ |= buckets[k] == buckets[k - kCrowd];
}

void ThresholdIndex::FindBase() {
  any_low_ = false;
  double base = 0, previous = static_cast<double>(scores_[0]);
  for (int64_t k = 0; k < size_; ++k) {
    const auto score = static_cast<double>(scores_[k]);
    base += static_cast<double>(k) * (score - previous);
    base_[k] = base;
    previous = score;
    any_low_ |= MayHaveLow(scores_[k]);
  }
}

bool ThresholdIndex::Reserve(int64_t num_buckets) {
  if (num_buckets <= bucket_capacity_) return true;
  // Free first: the old content is not needed.
  bucket_capacity_ = kInlineBuckets;
  first_ = inline_first_.data();
  heap_first_.reset();
  heap_first_.reset(new (std::nothrow) int32_t[static_cast<size_t>(num_buckets + 1)]);
  if (heap_first_ == nullptr) return false;
  bucket_capacity_ = num_buckets;
  first_ = heap_first_.get();
  return true;
}

}  // namespace mlmargin::kernel
