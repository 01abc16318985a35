// SPDX-License-Identifier: Apache-2.0
// Counts of labels, put together.
#ifndef MLMARGIN_KERNEL_LABEL_TOTALS_H_
#define MLMARGIN_KERNEL_LABEL_TOTALS_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernel/heap_array.h"
#include "kernel/label_list.h"
#include "kernel/visit_labels.h"

namespace mlmargin::kernel {

// A class above exactly c of `size` sorted thresholds has a hinge with the labels 0 .. c - 1. Makes
// of counts[c], the number of such classes for c = 0 .. size, the number of those with label c.
inline void SumCountsFromAbove(size_t size, int64_t* counts) {
  int64_t above = 0;
  for (size_t c = size + 1; c-- > 0;) {
    const int64_t exactly = counts[c];
    counts[c] = above;
    above += exactly;
  }
}

// Calls visit(label, times) for each different one of sorted labels, with how often it is listed.
template <typename Visit>
void VisitRuns(std::span<const int64_t> sorted, const Visit& visit) {
  for (size_t i = 0, end; i < sorted.size(); i = end) {
    for (end = i + 1; end < sorted.size() && sorted[end] == sorted[i];) ++end;
    visit(sorted[i], static_cast<int64_t>(end - i));
  }
}

// A class that is a label, and how many hinges there are with it.
struct LabelTotal {
  int64_t label;
  int64_t count;
};

// A count for each entry of a row's label list becomes a total for each of the shard's classes
// [0, shard_classes) that is listed: calls visit(total) once for each. False, without a call, when
// memory could not be had. `entries` is kept between rows.
template <typename Visit>
bool VisitLabelTotals(const LabelRow& labels, const ShardLabels& shard, int64_t shard_classes,
                      const int64_t* counts, HeapArray<LabelTotal>* entries, const Visit& visit) {
  size_t length = 0;
  VisitLabels(labels, [&](int64_t, int64_t) { ++length; });
  if (!entries->Reserve(length)) return false;
  LabelTotal* const all = entries->data();
  // That another thread may change labels meanwhile must not overrun the entries.
  const LabelRow before_end = {labels.data, labels.stride, static_cast<int64_t>(length),
                               labels.type};
  size_t size = 0;
  VisitGoodLabels(before_end, shard.classes, [&](int64_t column, int64_t value) {
    const int64_t label = value - shard.first_class;
    if (IsClass(label, shard_classes)) all[size++] = {label, counts[column]};
  });
  std::sort(all, all + size,
            [](const LabelTotal& a, const LabelTotal& b) { return a.label < b.label; });
  for (size_t i = 0, end; i < size; i = end) {
    LabelTotal total = {all[i].label, 0};
    for (end = i; end < size && all[end].label == total.label; ++end) {
      total.count += all[end].count;
    }
    visit(total);
  }
  return true;
}

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_LABEL_TOTALS_H_
