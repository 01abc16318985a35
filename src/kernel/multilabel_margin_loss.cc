// SPDX-License-Identifier: Apache-2.0
#include "mlmargin/multilabel_margin_loss.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>

#include "kernel/element.h"
#include "kernel/float_environment.h"
#include "kernel/label_list.h"
#include "kernel/parallel_for.h"
#include "kernel/row_kernel.h"
#include "kernel/threshold_index.h"
#include "mlmargin/settings.h"

namespace mlmargin {
namespace kernel {
namespace {

// Work of one task, in classes: a few microseconds, well above the cost of handing it out.
constexpr int64_t kTaskClasses = 32768;

// Below this many classes in all a call stays on its thread: waking another costs more.
constexpr int64_t kSerialClasses = 16384;

// Fewer rows than this per thread, if long, are split by classes, unless they come out even.
constexpr int64_t kRowsPerThread = 4;

int64_t DivideUp(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

bool StreamMask(const LossArguments& args) {
  const int64_t bytes = ScoreBytes(args.score_type);
  const auto address = reinterpret_cast<uintptr_t>(args.mask.data);
  return args.mask.data != nullptr && args.mask.column_stride == 1 &&
         address % static_cast<uintptr_t>(bytes) == 0 &&
         UseMaskStream(static_cast<double>(args.rows) * static_cast<double>(args.classes) *
                       static_cast<double>(bytes));
}

// A row in work.
struct WorkingRow {
  Row row;
  LabelList labels;
  ThresholdIndex index;
};

// One call: the arguments and what its tasks share.
class Call {
 public:
  explicit Call(const LossArguments& arguments)
      : args_(arguments),
        kernels_(KernelsInUse()),
        short_rows_(UseShortRows(arguments.classes)),
        threads_(arguments.rows > kSerialClasses / arguments.classes ? NumThreads() : 1),
        part_classes_(DivideUp(DivideUp(arguments.classes, kMinPartClasses), kMaxParts) *
                      kMinPartClasses),
        stream_mask_(StreamMask(arguments)) {}

  Status Run(BadLabels* bad_labels);

 private:
  void SetRow(int64_t n, Row* row) const;
  LabelRow LabelsAt(int64_t row) const;
  int64_t PartEnd(int64_t begin) const {
    return begin + std::min(part_classes_, args_.classes - begin);
  }

  int64_t RowGrain() const { return std::max<int64_t>(1, kTaskClasses / args_.classes); }
  void FindBadLabels(int64_t begin, int64_t end);
  void ComputeRows(int64_t begin, int64_t end);
  int64_t ComputeShortRows(int64_t begin, int64_t end, BadLabels* found);
  void ComputeRowByParts(int64_t n, WorkingRow* working);
  bool ReadLabels(int64_t n, WorkingRow* row, BadLabels* found) const;
  void KeepRowLoss(int64_t row, double row_sum);
  void AddBadLabels(const BadLabels& found);
  void Reduce() const;

  const LossArguments& args_;
  const RowKernels kernels_;
  const bool short_rows_;
  const int threads_;
  const int64_t part_classes_;
  const bool stream_mask_;
  std::atomic<bool> out_of_memory_ = false;
  std::mutex bad_labels_mutex_;
  BadLabels bad_labels_;
};

void Call::SetRow(int64_t n, Row* row) const {
  const int64_t bytes = ScoreBytes(args_.score_type);
  // Member by member: a copy would have to wait until the members had left for the cache.
  row->scores.data = Offset(args_.scores.data, n * args_.scores.row_stride * bytes);
  row->scores.stride = args_.scores.column_stride;
  row->scores.classes = args_.classes;
  row->scores.type = args_.score_type;
  row->mask = args_.mask.data == nullptr
                  ? nullptr
                  : Offset(args_.mask.data, n * args_.mask.row_stride * bytes);
  row->mask_stride = args_.mask.column_stride;
  row->stream_mask = stream_mask_;
}

LabelRow Call::LabelsAt(int64_t row) const {
  // Without columns there may be no data either, and nothing to add to.
  const int64_t bytes =
      args_.label_columns == 0 ? 0 : row * args_.labels.row_stride * LabelBytes(args_.label_type);
  return {Offset(args_.labels.data, bytes), args_.labels.column_stride, args_.label_columns,
          args_.label_type};
}

void Call::AddBadLabels(const BadLabels& found) {
  if (found.count == 0) return;
  const std::lock_guard lock(bad_labels_mutex_);
  MergeBadLabels(found, &bad_labels_);
}

void Call::FindBadLabels(int64_t begin, int64_t end) {
  BadLabels found;
  for (int64_t row = begin; row < end; ++row) {
    CountBadLabels(LabelsAt(row), row, args_.classes, &found);
  }
  AddBadLabels(found);
}

void Call::KeepRowLoss(int64_t row, double row_sum) {
  if (args_.reduction != Reduction::kNone) {
    args_.row_losses[row] = row_sum;
    return;
  }
  StoreLoss(row_sum / static_cast<double>(args_.classes), args_.score_type,
            Offset(args_.loss, row * args_.loss_stride * ScoreBytes(args_.score_type)));
}

// False when there was no memory.
bool Call::ReadLabels(int64_t n, WorkingRow* row, BadLabels* found) const {
  LabelList& list = row->labels;
  SetRow(n, &row->row);
  row->row.labels = &list;
  row->row.index = &row->index;
  if (!list.Read(LabelsAt(n), row->row.scores, n, found)) return false;
  const auto count = static_cast<int64_t>(list.scores().size());
  row->row.kernel = ChooseRowKernel(count);
  if (row->row.kernel == RowKernel::kSearch && count > 0 && std::isfinite(list.scores()[0])) {
    row->index.Build(&list, kernels_.find_thresholds);
  } else {
    list.FindThresholds(kernels_.find_thresholds);
  }
  return true;
}

void Call::ComputeRows(int64_t begin, int64_t end) {
  WorkingRow working;
  BadLabels found;
  int64_t n = begin;
  while (n < end) {
    if (short_rows_) {
      n = ComputeShortRows(n, end, &found);
      if (n == end) break;
    }
    if (!ReadLabels(n, &working, &found)) {
      out_of_memory_ = true;
      return;
    }
    double row_sum = 0;
    for (int64_t part = 0; part < args_.classes; part = PartEnd(part)) {
      row_sum += kernels_.sum_range(working.row, part, PartEnd(part));
    }
    KeepRowLoss(n, row_sum);
    ++n;
  }
  AddBadLabels(found);
}

// Returns the first row that is not for this kernel, or `end`.
int64_t Call::ComputeShortRows(int64_t begin, int64_t end, BadLabels* found) {
  constexpr int64_t kAtOnce = 64;
  std::array<double, kAtOnce> sums;
  while (begin < end) {
    const int64_t stop = std::min(begin + kAtOnce, end);
    const int64_t done = kernels_.sum_short_rows(args_, begin, stop, sums.data(), found);
    for (int64_t n = begin; n < done; ++n) KeepRowLoss(n, sums[static_cast<size_t>(n - begin)]);
    if (done < stop) return done;
    begin = stop;
  }
  return end;
}

void Call::ComputeRowByParts(int64_t n, WorkingRow* working) {
  BadLabels found;
  {
    const DefaultFloatEnvironment environment;
    if (!ReadLabels(n, working, &found)) {
      out_of_memory_ = true;
      return;
    }
  }
  AddBadLabels(found);
  const Row& row = working->row;
  std::array<double, kMaxParts> sums;
  const int64_t num_parts = DivideUp(args_.classes, part_classes_);
  const int64_t grain = std::max<int64_t>(1, kTaskClasses / part_classes_);
  ParallelFor(num_parts, grain, threads_, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t first = part * part_classes_;
      sums[static_cast<size_t>(part)] = kernels_.sum_range(row, first, PartEnd(first));
    }
  });
  const DefaultFloatEnvironment environment;
  double row_sum = 0;
  for (int64_t part = 0; part < num_parts; ++part) row_sum += sums[static_cast<size_t>(part)];
  KeepRowLoss(n, row_sum);
}

// Adds the rows in order, in runs of 4,096, so that the error does not grow with their number.
void Call::Reduce() const {
  constexpr int64_t kRun = 4096;
  const DefaultFloatEnvironment environment;
  double total = 0;
  for (int64_t run = 0; run < args_.rows; run += kRun) {
    double run_sum = 0;
    for (int64_t n = run; n < std::min(run + kRun, args_.rows); ++n) {
      run_sum += args_.row_losses[n];
    }
    total += run_sum;
  }
  double divisor = static_cast<double>(args_.classes);
  if (args_.reduction == Reduction::kMean) divisor *= static_cast<double>(args_.rows);
  StoreLoss(total / divisor, args_.score_type, args_.loss);
}

Status Call::Run(BadLabels* bad_labels) {
  if (args_.reject_bad_labels) {
    ParallelFor(args_.rows, RowGrain(), threads_,
                [this](int64_t begin, int64_t end) { FindBadLabels(begin, end); });
    if (bad_labels_.count > 0) {
      if (bad_labels != nullptr) *bad_labels = bad_labels_;
      return {StatusCode::kLabelOutOfRange,
              std::to_string(bad_labels_.count) + " labels are outside [-1, " +
                  std::to_string(args_.classes - 1) + "], the first is " +
                  std::to_string(bad_labels_.value) + " at row " + std::to_string(bad_labels_.row) +
                  ", position " + std::to_string(bad_labels_.column)};
    }
  }
  // Rows that come out even need no help, and each thread then reads the labels of its own.
  const bool by_classes = args_.rows < kRowsPerThread * threads_ && args_.rows % threads_ != 0 &&
                          args_.classes > kTaskClasses;
  if (by_classes) {
    WorkingRow row;
    for (int64_t n = 0; n < args_.rows && !out_of_memory_; ++n) ComputeRowByParts(n, &row);
  } else {
    ParallelFor(args_.rows, RowGrain(), threads_,
                [this](int64_t begin, int64_t end) { ComputeRows(begin, end); });
  }
  if (out_of_memory_) {
    return {StatusCode::kOutOfMemory, "no memory for the label list of a row"};
  }
  if (args_.reduction != Reduction::kNone) Reduce();
  if (bad_labels != nullptr) *bad_labels = bad_labels_;
  return {};
}

Status Invalid(const char* argument, const char* expected, const std::string& got) {
  return {StatusCode::kInvalidArgument,
          std::string(argument) + " must be " + expected + ", got " + got};
}

Status Check(const LossArguments& args) {
  if (args.rows < 0) return Invalid("rows", ">= 0", std::to_string(args.rows));
  if (args.classes < 1) return Invalid("classes", ">= 1", std::to_string(args.classes));
  if (args.label_columns < 0) {
    return Invalid("label_columns", ">= 0", std::to_string(args.label_columns));
  }
  const bool none = args.reduction == Reduction::kNone;
  if (args.loss == nullptr && !(none && args.rows == 0)) return Invalid("loss", "data", "null");
  if (args.rows == 0) return {};
  if (args.scores.data == nullptr) return Invalid("scores", "data", "null");
  if (args.labels.data == nullptr && args.label_columns > 0) {
    return Invalid("labels", "data", "null");
  }
  if (!none && args.row_losses == nullptr) {
    return Invalid("row_losses", "scratch of `rows` doubles", "null");
  }
  return {};
}

// The loss of no rows: an empty sum, and 0/0 for the mean.
void StoreEmpty(const LossArguments& args) {
  if (args.reduction == Reduction::kNone) return;
  StoreLoss(args.reduction == Reduction::kSum ? 0.0 : std::numeric_limits<double>::quiet_NaN(),
            args.score_type, args.loss);
}

}  // namespace
}  // namespace kernel

Status MultilabelMarginLoss(const LossArguments& arguments, BadLabels* bad_labels) {
  try {
    if (bad_labels != nullptr) *bad_labels = BadLabels();
    Status status = kernel::Check(arguments);
    if (!status.ok()) return status;
    if (arguments.rows == 0) {
      kernel::StoreEmpty(arguments);
      return {};
    }
    return kernel::Call(arguments).Run(bad_labels);
  } catch (...) {
    // Memory, for the list of ranges or the thread pool, or a thread could not be had; there may
    // be no memory for words either.
    return {StatusCode::kOutOfMemory, ""};
  }
}

}  // namespace mlmargin
