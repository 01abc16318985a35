// SPDX-License-Identifier: Apache-2.0
// The vector part, compiled once per SIMD target: three kernels, and the choice between them.
// docs/kernels.md says how they work, and has the measurements behind the choice.
#ifndef MLMARGIN_KERNEL_ROW_KERNEL_H_
#define MLMARGIN_KERNEL_ROW_KERNEL_H_

#include <cstdint>
#include <optional>

#include "kernel/label_list.h"
#include "kernel/threshold_index.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::kernel {

// A row's sum is made of parts of at least this many classes, and of at most kMaxParts of them, so
// one thread alone and many threads over one row add in the same order. Both numbers are part of
// the results' bits.
inline constexpr int64_t kMinPartClasses = 16384;
static_assert(kMinPartClasses % LabelList::kSliceClasses == 0, "A slice belongs to one part");
inline constexpr int64_t kMaxParts = 1024;

enum class RowKernel {
  kShort,     // Adds up every pair in double: for few classes.
  kPairwise,  // Compares every class with every label and counts: for few labels.
  kSearch,    // Every class finds its place among the sorted thresholds: for many.
};

// Rows of at most this many classes are for kShort, as long as it can do them.
inline constexpr int64_t kMaxShortClasses = 128;
bool UseShortRows(int64_t classes);

// Rows with at most this many finite label scores are for kPairwise, which does as many in a pass.
inline constexpr int64_t kMaxFewLabels = 48;
RowKernel ChooseRowKernel(int64_t labels);

// Whether a call writes masks of so many bytes in all past the caches.
bool UseMaskStream(double mask_bytes);

// For tests and benchmarks: send every row that it can do to one kernel, every mask past the caches
// or none; without a value the choice is free again. Must not be called while a computation runs.
void ForceRowKernel(std::optional<RowKernel> kernel);
void ForceMaskStream(std::optional<bool> stream);

// One row: its scores, its labels, and where its mask goes.
struct Row {
  ScoreRow scores;
  void* mask;  // Null: no mask.
  int64_t mask_stride;
  bool stream_mask;  // Write it past the caches; it is contiguous and aligned as its elements.
  const LabelList* labels;
  RowKernel kernel;
  const ThresholdIndex* index;  // Only for kSearch.
};

// Writes the mask of classes [begin, end) and returns the sum of the hinges of the row's labels
// against those of the classes that are no labels. `begin` is a multiple of kMinPartClasses.
//
// Error, relative to the sum, of a range of n classes: at most 2^-30 or (n / 16 + 64) * 48 * 2^-53
// for kPairwise, (n / 8 + number of labels) * 2^-53 for kSearch.
using SumRangeFunction = double (*)(const Row& row, int64_t begin, int64_t end);

// Does the same for the rows [begin, end) of a call, of at most kMaxShortClasses classes; sums[i]
// is for row begin + i. Adds what it finds to `bad`. Returns the first row that it cannot do, or
// `end`. Error: below 2^-31 of the sum.
using SumShortRowsFunction = int64_t (*)(const LossArguments& args, int64_t begin, int64_t end,
                                         double* sums, BadLabels* bad);

// The functions for the target in use; hold them for a whole call, not for longer.
struct RowKernels {
  SumRangeFunction sum_range;
  SumShortRowsFunction sum_short_rows;
  FindThresholdsFunction find_thresholds;
};
RowKernels KernelsInUse();

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_ROW_KERNEL_H_
