// SPDX-License-Identifier: Apache-2.0
// The gradient of a row's labels, which has to wait for the counts of the whole row.
#ifndef MLMARGIN_KERNEL_LABEL_GRADIENT_H_
#define MLMARGIN_KERNEL_LABEL_GRADIENT_H_

#include <array>
#include <cstdint>
#include <span>

#include "kernel/heap_array.h"
#include "kernel/label_list.h"
#include "kernel/row_kernel.h"

namespace mlmargin::kernel {

// Kept between rows. What it takes from the heap, nothing for up to LabelList::kInline labels, is 8
// bytes a label, and as many again where the list is dense.
class LabelGradient {
 public:
  // Zeros for RowGradient::counts. False when memory could not be had.
  bool Begin(const LabelList& labels, const ThresholdIndex* index);
  int64_t* counts() { return counts_; }

  // Turns the counts into what FindCounts() and Write() need, once those of the whole row are
  // there.
  void FinishCounts(const Row& row);

  // Sets counts[i] to the number of classes that have a hinge with a label of score scores[i].
  // kChunk at most.
  static constexpr size_t kChunk = 1024;
  void FindCounts(const Row& row, const RowKernels& kernels,
                  const GradientKernels& gradient_kernels, const float* scores, size_t size,
                  int64_t* counts) const;

  // Writes the gradient of all labels, which were read from `label_row`.
  void Write(const Row& row, const RowKernels& kernels, const GradientKernels& gradient_kernels,
             const LabelRow& label_row, LabelList* labels);

 private:
  struct Chunk;
  void WriteChunk(const Row& row, const RowKernels& kernels,
                  const GradientKernels& gradient_kernels, Chunk* chunk) const;

  std::array<int64_t, LabelList::kInline + 1> inline_counts_;
  HeapArray<int64_t> heap_counts_;
  HeapArray<int64_t> spare_list_;  // For LabelList::SortClasses.
  int64_t* counts_ = inline_counts_.data();
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_LABEL_GRADIENT_H_
