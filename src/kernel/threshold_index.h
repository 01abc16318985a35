// SPDX-License-Identifier: Apache-2.0
// The thresholds of a row with many labels, sorted, and what a score needs to know of its place
// among them.
#ifndef MLMARGIN_KERNEL_THRESHOLD_INDEX_H_
#define MLMARGIN_KERNEL_THRESHOLD_INDEX_H_

#include <cstdint>

#include "kernel/label_list.h"
#include "kernel/threshold_tree.h"

namespace mlmargin::kernel {

// With the labels' scores x[0] <= x[1] <= ... and their thresholds t[k] = x[k] - 1, a class of
// score y above exactly k + 1 thresholds has the hinges' sum
//
//   sum over j <= k of (y - t[j]) = (k + 1) * (y - t[k]) + base[k],
//   base[k] = sum over j <= k of (t[k] - t[j]) = base[k - 1] + k * (x[k] - x[k - 1]).
//
// No term is negative, so nothing cancels. To find k, a score goes down a tree, node by node.
class ThresholdIndex {
 public:
  // Rows with more labels take the other kernel: the error of base[k] grows with k * 2^-53.
  static constexpr int64_t kMaxLabels = int64_t{1} << 26;

  // Sorts labels->scores() in place, finds its thresholds and takes its spare memory. Where a score
  // is -inf there is no sum, and base() means nothing.
  // O(n log n) for n labels.
  void Build(LabelList* labels, FindThresholdsFunction find_thresholds);

  // FloorThreshold of each score.
  const float* thresholds() const { return thresholds_; }
  const float* scores() const { return scores_; }
  const double* base() const { return base_; }
  // Whether any 1 - x[k] may need its low part.
  bool any_low() const { return any_low_; }

  // The tree's levels begin at thresholds() + tree().begin[level].
  const ThresholdTree& tree() const { return tree_; }

 private:
  void FillTree();
  void FindBase();

  ThresholdTree tree_{0};
  float* thresholds_ = nullptr;
  const float* scores_ = nullptr;
  double* base_ = nullptr;
  int64_t size_ = 0;
  bool any_low_ = false;
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_THRESHOLD_INDEX_H_
