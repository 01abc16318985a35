// SPDX-License-Identifier: Apache-2.0
#include "mlmargin/multilabel_margin_loss.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <type_traits>

#include "kernel/check_arguments.h"
#include "kernel/double_row.h"
#include "kernel/element.h"
#include "kernel/float_environment.h"
#include "kernel/float_row.h"
#include "kernel/heap_array.h"
#include "kernel/label_list.h"
#include "kernel/parallel_for.h"
#include "kernel/reduce.h"
#include "kernel/row_arguments.h"
#include "kernel/row_kernel.h"
#include "kernel/split.h"
#include "mlmargin/settings.h"

namespace mlmargin {
namespace kernel {
namespace {

// Fewer rows than this per thread, if long, are split by classes, unless they come out even.
constexpr int64_t kRowsPerThread = 4;

// One call: the arguments and what its tasks share. RowWork is FloatRow or DoubleRow.
template <class RowWork>
class Call {
 public:
  explicit Call(const LossArguments& arguments)
      : args_(arguments),
        has_gradient_(arguments.grad_scores.data != nullptr),
        short_rows_(UseShortRows(arguments.classes)
                        ? (has_gradient_ ? GradientKernelsInUse().sum_short_rows
                                         : KernelsInUse().sum_short_rows)
                        : nullptr),
        threads_(ThreadsFor(arguments.rows, arguments.classes, arguments.max_threads)),
        part_classes_(ClassesOfPart(arguments.classes)),
        row_sums_(arguments.row_losses) {}

  Status Run(BadLabels* bad_labels);

 private:
  using Sum = typename RowWork::Sum;
  static constexpr bool kFloat = std::is_same_v<RowWork, FloatRow>;

  int64_t PartEndFrom(int64_t begin) const { return PartEnd(begin, part_classes_, args_.classes); }
  bool KeepsRowSums() const { return args_.loss != nullptr && args_.reduction != Reduction::kNone; }

  Status RejectBadLabels(BadLabels* bad_labels);
  void FindBadLabels(int64_t begin, int64_t end);
  void ComputeRows(int64_t begin, int64_t end);
  int64_t ComputeShortRows(int64_t begin, int64_t end, BadLabels* found);
  void ComputeRowByParts(int64_t n, RowWork* row);
  void KeepRowSum(int64_t row, const Sum& row_sum);
  void AddBadLabels(const BadLabels& found);

  const LossArguments& args_;
  const bool has_gradient_;
  const SumShortRowsFunction short_rows_;  // Null: rows are not short.
  const int threads_;
  const int64_t part_classes_;
  double* row_sums_;
  HeapArray<double> own_row_sums_;
  std::atomic<bool> out_of_memory_ = false;
  std::mutex bad_labels_mutex_;
  BadLabels bad_labels_;
};

template <class RowWork>
void Call<RowWork>::AddBadLabels(const BadLabels& found) {
  if (found.count == 0) return;
  const std::lock_guard lock(bad_labels_mutex_);
  MergeBadLabels(found, &bad_labels_);
}

template <class RowWork>
void Call<RowWork>::FindBadLabels(int64_t begin, int64_t end) {
  BadLabels found;
  for (int64_t row = begin; row < end; ++row) {
    CountBadLabels(LabelsOfRow(args_, row), row, args_.classes, &found);
  }
  AddBadLabels(found);
}

template <class RowWork>
void Call<RowWork>::KeepRowSum(int64_t row, const Sum& row_sum) {
  if (args_.loss == nullptr) return;
  if (args_.reduction != Reduction::kNone) return row_sum.Save(row_sums_ + row * Sum::kDoubles);
  StoreLoss(row_sum.DividedBy(static_cast<double>(args_.classes)), args_.score_type,
            Offset(args_.loss, row * args_.loss_stride * ScoreBytes(args_.score_type)));
}

template <class RowWork>
void Call<RowWork>::ComputeRows(int64_t begin, int64_t end) {
  RowWork row(args_, nullptr, has_gradient_, false);
  BadLabels found;
  int64_t n = begin;
  while (n < end) {
    if constexpr (kFloat) {
      if (short_rows_ != nullptr) n = ComputeShortRows(n, end, &found);
      if (n == end) break;
    }
    if (!row.Read(n, &found)) {
      out_of_memory_ = true;
      return;
    }
    Sum row_sum;
    for (int64_t part = 0; part < args_.classes; part = PartEndFrom(part)) {
      row_sum += row.SumPart(part, PartEndFrom(part));
    }
    if (has_gradient_) row.WriteLabelGradient();
    KeepRowSum(n, row_sum);
    ++n;
  }
  AddBadLabels(found);
}

// Returns the first row that is not for this kernel, or `end`.
template <class RowWork>
int64_t Call<RowWork>::ComputeShortRows(int64_t begin, int64_t end, BadLabels* found) {
  constexpr int64_t kAtOnce = 64;
  std::array<double, kAtOnce> sums;
  while (begin < end) {
    const int64_t stop = std::min(begin + kAtOnce, end);
    const int64_t done = short_rows_(args_, begin, stop, sums.data(), found);
    for (int64_t n = begin; args_.loss != nullptr && n < done; ++n) {
      if constexpr (kFloat) KeepRowSum(n, {sums[static_cast<size_t>(n - begin)]});
    }
    if (done < stop) return done;
    begin = stop;
  }
  return end;
}

template <class RowWork>
void Call<RowWork>::ComputeRowByParts(int64_t n, RowWork* row) {
  BadLabels found;
  {
    const DefaultFloatEnvironment environment;
    if (!row->Read(n, &found)) {
      out_of_memory_ = true;
      return;
    }
  }
  AddBadLabels(found);
  std::array<Sum, kMaxParts> sums;
  const int64_t num_parts = DivideUp(args_.classes, part_classes_);
  const int64_t grain = std::max<int64_t>(1, kTaskClasses / part_classes_);
  ParallelFor(num_parts, grain, threads_, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t first = part * part_classes_;
      sums[static_cast<size_t>(part)] = row->SumPart(first, PartEndFrom(first));
    }
  });
  const DefaultFloatEnvironment environment;
  Sum row_sum;
  for (int64_t part = 0; part < num_parts; ++part) row_sum += sums[static_cast<size_t>(part)];
  if (has_gradient_) row->WriteLabelGradient();
  KeepRowSum(n, row_sum);
}

template <class RowWork>
Status Call<RowWork>::RejectBadLabels(BadLabels* bad_labels) {
  ParallelFor(args_.rows, RowGrain(args_.classes), threads_,
              [this](int64_t begin, int64_t end) { FindBadLabels(begin, end); });
  if (bad_labels_.count == 0) return {};
  if (bad_labels != nullptr) *bad_labels = bad_labels_;
  return {StatusCode::kLabelOutOfRange,
          std::to_string(bad_labels_.count) + " labels are outside [-1, " +
              std::to_string(args_.classes - 1) + "], the first is " +
              std::to_string(bad_labels_.value) + " at row " + std::to_string(bad_labels_.row) +
              ", position " + std::to_string(bad_labels_.column)};
}

template <class RowWork>
Status Call<RowWork>::Run(BadLabels* bad_labels) {
  if (args_.reject_bad_labels) {
    Status status = RejectBadLabels(bad_labels);
    if (!status.ok()) return status;
  }
  if (KeepsRowSums() && row_sums_ == nullptr) {
    if (!own_row_sums_.Reserve(static_cast<size_t>(args_.rows) * Sum::kDoubles)) {
      return {StatusCode::kOutOfMemory, "no memory for the losses of the rows"};
    }
    row_sums_ = own_row_sums_.data();
  }
  // Rows that come out even need no help, and each thread then reads the labels of its own.
  const bool by_classes = args_.rows < kRowsPerThread * threads_ && args_.rows % threads_ != 0 &&
                          args_.classes > kTaskClasses;
  if (by_classes) {
    RowWork row(args_, nullptr, has_gradient_, true);
    for (int64_t n = 0; n < args_.rows && !out_of_memory_; ++n) ComputeRowByParts(n, &row);
  } else {
    ParallelFor(args_.rows, RowGrain(args_.classes), threads_,
                [this](int64_t begin, int64_t end) { ComputeRows(begin, end); });
  }
  if (out_of_memory_) {
    return {StatusCode::kOutOfMemory, "no memory for the label list of a row"};
  }
  if (KeepsRowSums()) {
    StoreReduced<Sum>(row_sums_, args_.rows, MeanRows(args_), args_.classes, args_.reduction,
                      args_.score_type, args_.loss);
  }
  if (bad_labels != nullptr) *bad_labels = bad_labels_;
  return {};
}

}  // namespace

}  // namespace kernel

Status MultilabelMarginLoss(const LossArguments& arguments, BadLabels* bad_labels) {
  return kernel::Guarded([&]() -> Status {
    if (bad_labels != nullptr) *bad_labels = BadLabels();
    Status status = kernel::CheckArguments(arguments);
    if (!status.ok()) return status;
    if (arguments.rows == 0) {
      if (arguments.loss != nullptr) {
        kernel::StoreEmpty(arguments.reduction, arguments.mean_rows, arguments.score_type,
                           arguments.loss);
      }
      return {};
    }
    if (arguments.score_type == ScoreType::kFloat64) {
      return kernel::Call<kernel::DoubleRow>(arguments).Run(bad_labels);
    }
    return kernel::Call<kernel::FloatRow>(arguments).Run(bad_labels);
  });
}

}  // namespace mlmargin
