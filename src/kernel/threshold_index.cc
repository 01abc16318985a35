// SPDX-License-Identifier: Apache-2.0
#include "kernel/threshold_index.h"

#include <algorithm>
#include <limits>
#include <new>

#include "hwy/contrib/sort/vqsort.h"
#include "kernel/threshold.h"

namespace mlmargin::kernel {

bool ThresholdIndex::Build(LabelList* labels, int64_t classes) {
  // Two a label keep the table small and most buckets at no more than two thresholds. Where more
  // cost little beside the classes, they leave more scores alone in their bucket.
  constexpr int64_t kBucketsPerLabel = 2, kClassesPerBucket = 8, kEnoughBuckets = 2048;
  const std::span<float> scores = labels->scores();
  size_ = static_cast<int64_t>(scores.size());
  if (!Reserve(std::max(kBucketsPerLabel * size_,
                        std::min(classes / kClassesPerBucket, kEnoughBuckets)))) {
    return false;
  }
  hwy::Sorter()(scores.data(), scores.size(), hwy::SortAscending());
  scores_ = scores.data();
  thresholds_ = labels->mutable_thresholds();
  base_ = labels->spare();
  any_low_ = false;
  double base = 0, previous = static_cast<double>(scores_[0]);
  for (int64_t k = 0; k < size_; ++k) {
    const auto score = static_cast<double>(scores_[k]);
    base += static_cast<double>(k) * (score - previous);
    base_[k] = base;
    previous = score;
    thresholds_[k] = FloorThreshold(scores_[k]);
    any_low_ |= NegatedThreshold(scores_[k]).low != 0;
  }
  std::fill_n(thresholds_ + size_, LabelList::kSentinels, std::numeric_limits<float>::infinity());
  FillBuckets();
  return true;
}

int32_t ThresholdIndex::BucketOf(float threshold) const {
  const float position = (threshold - thresholds_[0]) * scale_;
  const auto last = static_cast<float>(last_bucket_);
  return static_cast<int32_t>(position < last ? position : last);
}

void ThresholdIndex::FillBuckets() {
  last_bucket_ = static_cast<int32_t>(num_buckets_ - 1);
  // A range of zero, or infinite, puts all thresholds into the first bucket, or the last.
  scale_ = std::min(static_cast<float>(last_bucket_) / (thresholds_[size_ - 1] - thresholds_[0]),
                    std::numeric_limits<float>::max());
  std::fill_n(first_.get(), num_buckets_ + 1, 0);
  for (int64_t k = 0; k < size_; ++k) {
    first_[BucketOf(thresholds_[k]) + 1] = static_cast<int32_t>(k + 1);
  }
  int32_t largest = 0;
  for (int64_t b = 1; b <= num_buckets_; ++b) {
    first_[b] = std::max(first_[b], first_[b - 1]);
    largest = std::max(largest, first_[b] - first_[b - 1]);
  }
  crowded_ = largest > kCrowd;
}

bool ThresholdIndex::Reserve(int64_t num_buckets) {
  num_buckets_ = num_buckets;
  if (num_buckets <= bucket_capacity_) return true;
  // Free first: the old content is not needed.
  bucket_capacity_ = 0;
  first_.reset();
  first_.reset(new (std::nothrow) int32_t[static_cast<size_t>(num_buckets + 1)]);
  if (first_ == nullptr) return false;
  bucket_capacity_ = num_buckets;
  return true;
}

}  // namespace mlmargin::kernel
