// SPDX-License-Identifier: Apache-2.0
// The vector part: a range of one row's classes, compiled once per SIMD target.
#ifndef MLMARGIN_KERNEL_ROW_KERNEL_H_
#define MLMARGIN_KERNEL_ROW_KERNEL_H_

#include <cstdint>

#include "kernel/label_list.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::kernel {

// Classes that go through the first-level cache together: 16 KiB as double. The order of every
// addition hangs on this number, so it is part of the results' bits.
inline constexpr int64_t kBlockClasses = 2048;

// One row: its scores, its labels, and where its mask goes.
struct Row {
  const void* scores;
  int64_t score_stride;  // In elements.
  ScoreType type;
  void* mask;  // Null: no mask.
  int64_t mask_stride;
  const LabelList* labels;
};

// Writes the mask of classes [begin, end) and returns the sum of the hinges of the row's labels
// against those of the classes that are no labels. `begin` is a multiple of kBlockClasses.
//
// Error: each hinge is off by at most 2^-52 of itself, and the sum of n blocks over L labels by
// (265 + L + n) * 2^-53 of itself more: all terms are positive, so nothing cancels.
using SumRangeFunction = double (*)(const Row& row, int64_t begin, int64_t end);

// The function for the target in use; hold it for a whole call, not for longer.
SumRangeFunction SumRange();

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_ROW_KERNEL_H_
