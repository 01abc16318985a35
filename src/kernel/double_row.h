// SPDX-License-Identifier: Apache-2.0
// A row of float64 scores in work. There is one kernel, compiled once: every class finds its place
// among the sorted thresholds, as in the search kernel of the float types, and is added up in
// double-doubles.
#ifndef MLMARGIN_KERNEL_DOUBLE_ROW_H_
#define MLMARGIN_KERNEL_DOUBLE_ROW_H_

#include <cstdint>
#include <span>

#include "kernel/double_double.h"
#include "kernel/heap_array.h"
#include "kernel/label_list.h"
#include "kernel/label_totals.h"
#include "kernel/row_arguments.h"
#include "kernel/row_sum.h"

namespace mlmargin::kernel {

// The members are those of FloatRow.
class DoubleRow {
 public:
  using Sum = WideSum;

  DoubleRow(const LossArguments& args, const Shard* shard, bool counted, bool split);

  bool Read(int64_t n, BadLabels* bad);
  Sum SumPart(int64_t begin, int64_t end) const;
  void WriteLabelGradient();
  bool WriteLabelGradientFrom(const int64_t* counts);
  void CountForLabels(int64_t* counts);

 private:
  struct Group;
  struct Sums;

  bool Reserve(size_t labels);
  void SortLabels();
  double UnitOf(double score) const;
  void FindScale(int64_t n);
  void WriteMask(const Group& group) const;
  void WorkOnGroup(const Group& group, Sums* sums) const;
  void AddHinges(double y, size_t count, DoubleDouble* plain, DoubleDouble* scaled) const;
  double Gradient(double pairs) const;
  void StoreGradientOf(int64_t label, double value) const;
  int64_t CountOf(double label_score) const;
  const void* ScoreAt(int64_t label) const;

  const LossArguments& args_;
  const Shard* const shard_;
  const bool counted_;
  const bool split_;
  int64_t row_number_ = 0;
  LabelRow label_row_ = {};
  ScoreRow scores_ = {};

  // The labels of the row that are classes of the call, sorted; a label listed twice is there
  // twice.
  HeapArray<int64_t> labels_;
  size_t num_labels_ = 0;
  // Those of their scores that a hinge can be positive for, sorted, and what goes with each.
  HeapArray<double> label_scores_;
  HeapArray<double> thresholds_;       // FloorThreshold.
  HeapArray<DoubleDouble> negated_;    // 1 - x; this and the next in UnitOf(x).
  HeapArray<DoubleDouble> distances_;  // Sum of the distances to the thresholds below.
  HeapArray<int64_t> counts_;
  int64_t* counters_ = nullptr;  // In counts_; as RowGradient::counts, with an index.
  size_t num_scores_ = 0;
  bool any_infinite_ = false;
  bool scaled_ = false;  // The unit is 2^128 for all scores.
  HeapArray<LabelTotal> totals_;

  // What one pair adds to the gradient: (high + low) * unshift_.
  DoubleDouble per_pair_;
  double unshift_ = 1;
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_DOUBLE_ROW_H_
