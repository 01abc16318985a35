// SPDX-License-Identifier: Apache-2.0
// The thresholds of a row with many labels, sorted, and a table that finds a score's place among
// them in a few steps.
#ifndef MLMARGIN_KERNEL_THRESHOLD_INDEX_H_
#define MLMARGIN_KERNEL_THRESHOLD_INDEX_H_

#include <array>
#include <cstdint>
#include <memory>

#include "kernel/label_list.h"

namespace mlmargin::kernel {

// A function from scores to buckets that never falls.
struct BucketMap {
  float lowest;
  float scale;
  int32_t last;

  int32_t Of(float score) const {
    const float position = (score - lowest) * scale;
    const auto bound = static_cast<float>(last);
    return static_cast<int32_t>(position < bound ? position : bound);  // `last` for NaN.
  }
};

// Sets thresholds[i] to FloorThreshold(scores[i]) and buckets[i] to that of the threshold.
using FindThresholdsFunction = void (*)(const float* scores, size_t count, const BucketMap& map,
                                        float* thresholds, int32_t* buckets);

// With the labels' scores x[0] <= x[1] <= ... and their thresholds t[k] = x[k] - 1, a class of
// score y above exactly k + 1 thresholds has the hinges' sum
//
//   sum over j <= k of (y - t[j]) = (k + 1) * (y - t[k]) + base[k],
//   base[k] = sum over j <= k of (t[k] - t[j]) = base[k - 1] + k * (x[k] - x[k - 1]).
//
// No term is negative, so nothing cancels. To find k, scores and thresholds are mapped to buckets:
// a threshold in a lower bucket than the score's is below the score, one in a higher bucket is not,
// and only those in the same bucket have to be compared.
class ThresholdIndex {
 public:
  // Rows with more labels take the other kernel: the error of base[k] grows with k * 2^-53.
  static constexpr int64_t kMaxLabels = int64_t{1} << 26;

  // Sorts labels->scores(), all finite, in place, finds its thresholds and takes its spare memory.
  // Allocates 8 bytes a label less 12 for more than a thousand labels. False when they could not be
  // had. O(n log n) for n labels.
  bool Build(LabelList* labels, int64_t classes, FindThresholdsFunction find_thresholds);

  // FloorThreshold of each score, then LabelList::kSentinels of +inf.
  const float* thresholds() const { return thresholds_; }
  const float* scores() const { return scores_; }
  const double* base() const { return base_; }
  // Whether any 1 - x[k] may need its low part.
  bool any_low() const { return any_low_; }

  // For scores above thresholds()[0].
  const BucketMap& map() const { return map_; }
  // Of map().last + 2 entries: how many thresholds lie in lower buckets.
  const int32_t* first() const { return first_; }
  // Whether a bucket holds more than kCrowd thresholds, so that halving pays.
  bool crowded() const { return crowded_; }
  static constexpr int32_t kCrowd = 8;

 private:
  bool Reserve(int64_t num_buckets);
  void FillBuckets(const int32_t* buckets);
  void FindBase();

  static constexpr int64_t kInlineBuckets = 2048;

  std::array<int32_t, kInlineBuckets + 1> inline_first_;
  std::unique_ptr<int32_t[]> heap_first_;
  int64_t bucket_capacity_ = kInlineBuckets;
  int32_t* first_ = inline_first_.data();
  float* thresholds_ = nullptr;
  const float* scores_ = nullptr;
  double* base_ = nullptr;
  int64_t size_ = 0;
  BucketMap map_ = {};
  bool any_low_ = false;
  bool crowded_ = false;
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_THRESHOLD_INDEX_H_
