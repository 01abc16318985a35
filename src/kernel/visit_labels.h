// SPDX-License-Identifier: Apache-2.0
// Going through the label list of a row: where it ends, and which entries are classes.
#ifndef MLMARGIN_KERNEL_VISIT_LABELS_H_
#define MLMARGIN_KERNEL_VISIT_LABELS_H_

#include <cstdint>

#include "kernel/element.h"
#include "kernel/label_list.h"

namespace mlmargin::kernel {

// Calls visit(column, value) for the labels before the first -1.
template <typename T, typename Visit>
void VisitTyped(const LabelRow& labels, Visit&& visit) {
  const int64_t step = labels.stride * static_cast<int64_t>(sizeof(T));
  for (int64_t column = 0; column < labels.columns; ++column) {
    const T value = LoadUnaligned<T>(Offset(labels.data, column * step));
    if (value == -1) return;
    visit(column, static_cast<int64_t>(value));
  }
}

template <typename Visit>
void VisitLabels(const LabelRow& labels, Visit&& visit) {
  if (labels.type == LabelType::kInt32) {
    VisitTyped<int32_t>(labels, visit);
  } else {
    VisitTyped<int64_t>(labels, visit);
  }
}

inline bool IsClass(int64_t value, int64_t classes) {
  return static_cast<uint64_t>(value) < static_cast<uint64_t>(classes);
}

// The same without those that are no class.
template <typename Visit>
void VisitGoodLabels(const LabelRow& labels, int64_t classes, Visit&& visit) {
  VisitLabels(labels, [&](int64_t column, int64_t value) {
    if (IsClass(value, classes)) visit(column, value);
  });
}

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_VISIT_LABELS_H_
