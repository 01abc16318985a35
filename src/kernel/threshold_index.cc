// SPDX-License-Identifier: Apache-2.0
#include "kernel/threshold_index.h"

#include <algorithm>
#include <limits>
#include <span>

#include "hwy/contrib/sort/vqsort.h"
#include "kernel/threshold.h"

namespace mlmargin::kernel {

void ThresholdIndex::Build(LabelList* labels, FindThresholdsFunction find_thresholds) {
  const std::span<float> scores = labels->scores();
  size_ = static_cast<int64_t>(scores.size());
  hwy::Sorter()(scores.data(), scores.size(), hwy::SortAscending());
  scores_ = scores.data();
  base_ = reinterpret_cast<double*>(labels->spare());
  tree_ = ThresholdTree(size_);
  thresholds_ = labels->FindThresholds(find_thresholds);
  FillTree();
  FindBase();
}

void ThresholdIndex::FillTree() {
  constexpr int64_t kNode = ThresholdTree::kNode;
  float* level = thresholds_;
  int64_t filled = size_;
  for (int l = 0;; ++l) {
    const bool root = l + 1 == tree_.levels;
    const int64_t end = root ? tree_.end : tree_.begin[static_cast<size_t>(l) + 1];
    float* const next = thresholds_ + end;
    std::fill(level + filled, next, std::numeric_limits<float>::infinity());
    if (root) return;
    filled = (next - level) / kNode;
    for (int64_t node = 0; node < filled; ++node) next[node] = level[(node + 1) * kNode - 1];
    level = next;
  }
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

}  // namespace mlmargin::kernel
