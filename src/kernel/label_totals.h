// SPDX-License-Identifier: Apache-2.0
// Adds up a count for each entry of a row's label list to one for each class.
#ifndef MLMARGIN_KERNEL_LABEL_TOTALS_H_
#define MLMARGIN_KERNEL_LABEL_TOTALS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/label_list.h"
#include "kernel/visit_labels.h"

namespace mlmargin::kernel {

// Calls visit(label, total) for each of the shard's classes [0, shard_classes) that is a label,
// once, with the sum of the counts of the entries that list it. May throw std::bad_alloc.
template <typename Visit>
void VisitLabelTotals(const LabelRow& labels, const ShardLabels& shard, int64_t shard_classes,
                      const int64_t* counts, Visit&& visit) {
  std::vector<std::pair<int64_t, int64_t>> entries;
  VisitGoodLabels(labels, shard.classes, [&](int64_t column, int64_t value) {
    const int64_t label = value - shard.first_class;
    if (IsClass(label, shard_classes)) entries.emplace_back(label, counts[column]);
  });
  std::sort(entries.begin(), entries.end());
  for (size_t i = 0, end; i < entries.size(); i = end) {
    int64_t total = 0;
    for (end = i; end < entries.size() && entries[end].first == entries[i].first; ++end) {
      total += entries[end].second;
    }
    visit(entries[i].first, total);
  }
}

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_LABEL_TOTALS_H_
