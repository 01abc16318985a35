// SPDX-License-Identifier: Apache-2.0
// A row of float32, float16 or bfloat16 scores in work: from the arguments of a call to the vector
// kernels.
#ifndef MLMARGIN_KERNEL_FLOAT_ROW_H_
#define MLMARGIN_KERNEL_FLOAT_ROW_H_

#include <cstdint>

#include "kernel/heap_array.h"
#include "kernel/label_gradient.h"
#include "kernel/label_list.h"
#include "kernel/label_totals.h"
#include "kernel/row_arguments.h"
#include "kernel/row_kernel.h"
#include "kernel/row_sum.h"
#include "kernel/threshold_index.h"

namespace mlmargin::kernel {

// One row after the other. DoubleRow has the same members.
class FloatRow {
 public:
  using Sum = PlainSum;

  // `shard` may be null. `counted`: the labels' counts are wanted, as for a gradient. `split`:
  // several threads call SumPart() for one row.
  FloatRow(const LossArguments& args, const Shard* shard, bool counted, bool split);

  // Reads the labels of row n. False when memory for them could not be had.
  bool Read(int64_t n, BadLabels* bad);

  // Writes mask and gradient of the classes [begin, end), but for the labels' gradient, and returns
  // the sum of their hinges, if the loss is wanted. `begin` is a multiple of kMinPartClasses.
  Sum SumPart(int64_t begin, int64_t end) const;

  // Once all parts are done. Of a call that is not a shard: writes the labels' gradient.
  void WriteLabelGradient();
  // Of a shard: sets counts[k] to the number of its classes that have a hinge with entry k of the
  // row's list; writes the labels' gradient from the sum of those of all shards, and returns false
  // when memory for that could not be had.
  void CountForLabels(int64_t* counts);
  bool WriteLabelGradientFrom(const int64_t* counts);

 private:
  const LossArguments& args_;
  const Shard* const shard_;
  const bool counted_;
  const RowKernels kernels_;
  const GradientKernels gradient_kernels_;
  LabelRow label_row_ = {};
  int64_t row_number_ = 0;
  Row row_ = {};
  LabelList labels_;
  ThresholdIndex index_;
  LabelGradient label_gradient_;
  HeapArray<LabelTotal> totals_;
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_FLOAT_ROW_H_
