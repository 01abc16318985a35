// SPDX-License-Identifier: Apache-2.0
// The thresholds of a row with many labels, sorted, and a table that finds a score's place among
// them in a few steps.
#ifndef MLMARGIN_KERNEL_THRESHOLD_INDEX_H_
#define MLMARGIN_KERNEL_THRESHOLD_INDEX_H_

#include <cstdint>
#include <memory>

#include "kernel/label_list.h"

namespace mlmargin::kernel {

// With the labels' scores x[0] <= x[1] <= ... and their thresholds t[k] = x[k] - 1, a class of
// score y above exactly k + 1 thresholds has the hinges' sum
//
//   sum over j <= k of (y - t[j]) = (k + 1) * (y - t[k]) + base[k],
//   base[k] = sum over j <= k of (t[k] - t[j]) = base[k - 1] + k * (x[k] - x[k - 1]).
//
// No term is negative, so nothing cancels. To find k, scores are mapped to buckets by a function
// that never falls: a threshold in a lower bucket than the score's is below the score, one in a
// higher bucket is not, and only those in the same bucket have to be compared.
class ThresholdIndex {
 public:
  // Rows with more labels take the other kernel: the error of base[k] grows with k * 2^-53.
  static constexpr int64_t kMaxLabels = int64_t{1} << 26;

  // Sorts labels->scores(), all finite, in place, finds its thresholds and takes its spare memory;
  // 8 bytes a label more, at least 8 KiB. False when they could not be had. O(n log n) for n
  // labels.
  bool Build(LabelList* labels, int64_t classes);

  // FloorThreshold of each score, then LabelList::kSentinels of +inf.
  const float* thresholds() const { return thresholds_; }
  const float* scores() const { return scores_; }
  const double* base() const { return base_; }
  // Whether any 1 - x[k] needs its low part.
  bool any_low() const { return any_low_; }

  // The bucket of a score y > thresholds()[0] is (y - thresholds()[0]) * scale() as an integer, at
  // most last_bucket(), and last_bucket() when that is NaN.
  float scale() const { return scale_; }
  int32_t last_bucket() const { return last_bucket_; }
  // Of num_buckets + 1 entries: how many thresholds lie in lower buckets.
  const int32_t* first() const { return first_.get(); }
  // Whether a bucket holds more than kCrowd thresholds, so that halving pays.
  bool crowded() const { return crowded_; }
  static constexpr int32_t kCrowd = 8;

 private:
  bool Reserve(int64_t num_buckets);
  int32_t BucketOf(float threshold) const;
  void FillBuckets();

  std::unique_ptr<int32_t[]> first_;
  int64_t bucket_capacity_ = 0;
  int64_t num_buckets_ = 0;
  float* thresholds_ = nullptr;
  const float* scores_ = nullptr;
  double* base_ = nullptr;
  int64_t size_ = 0;
  float scale_ = 0;
  int32_t last_bucket_ = 0;
  bool any_low_ = false;
  bool crowded_ = false;
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_THRESHOLD_INDEX_H_
