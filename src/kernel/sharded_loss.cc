// SPDX-License-Identifier: Apache-2.0
#include "mlmargin/sharded_loss.h"

#include <atomic>
#include <mutex>
#include <string>

#include "kernel/check_arguments.h"
#include "kernel/double_row.h"
#include "kernel/element.h"
#include "kernel/float_environment.h"
#include "kernel/float_row.h"
#include "kernel/heap_array.h"
#include "kernel/parallel_for.h"
#include "kernel/reduce.h"
#include "kernel/row_sum.h"
#include "kernel/split.h"

namespace mlmargin {
namespace kernel {
namespace {

// What the rows of the shard look like to the row kernels: their classes are all there are, but the
// labels come with their scores.
LossArguments LocalArguments(const ShardArguments& args) {
  LossArguments local;
  local.rows = args.rows;
  local.classes = args.shard_classes;
  local.score_type = args.score_type;
  local.label_type = args.label_type;
  local.reduction = args.reduction;
  local.scores = args.scores;
  local.labels = args.labels;
  local.label_columns = args.label_columns;
  return local;
}

// Calls work(&row, n) for each row of a shard, its labels read; it returns false when memory could
// not be had. RowWork is FloatRow or DoubleRow.
template <class RowWork, class Work>
Status ForEachRow(const ShardArguments& args, const LossArguments& local, BadLabels* bad_labels,
                  const Work& work) {
  const Shard shard = {args.first_class, args.classes, args.label_scores};
  std::atomic<bool> out_of_memory = false;
  std::mutex mutex;
  BadLabels all_bad;
  const int threads = ThreadsFor(args.rows, args.shard_classes, args.max_threads);
  ParallelFor(args.rows, RowGrain(args.shard_classes), threads, [&](int64_t begin, int64_t end) {
    RowWork row(local, &shard, true, false);
    BadLabels bad;
    for (int64_t n = begin; n < end; ++n) {
      if (!row.Read(n, &bad) || !work(&row, n)) {
        out_of_memory = true;
        return;
      }
    }
    if (bad.count == 0) return;
    const std::lock_guard lock(mutex);
    MergeBadLabels(bad, &all_bad);
  });
  if (out_of_memory) return {StatusCode::kOutOfMemory, "no memory for the label list of a row"};
  if (bad_labels != nullptr) *bad_labels = all_bad;
  return {};
}

template <class RowWork>
Status SumShardOf(const ShardArguments& args, double* part_sums, int64_t* label_counts,
                  BadLabels* bad_labels) {
  LossArguments local = LocalArguments(args);
  local.loss = part_sums;  // Wanted; the kernels do not write there.
  const int64_t part_classes = PartClasses(args.classes);
  const int64_t parts = NumParts(args.classes, args.shard_classes);
  return ForEachRow<RowWork>(args, local, bad_labels, [&](RowWork* row, int64_t n) {
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t begin = part * part_classes;
      row->SumPart(begin, PartEnd(begin, part_classes, args.shard_classes))
          .Save(part_sums + (n * parts + part) * RowWork::Sum::kDoubles);
    }
    row->CountForLabels(label_counts + n * args.label_columns);
    return true;
  });
}

template <class RowWork>
Status GradientOf(const ShardArguments& args, const int64_t* label_counts, const void* grad_loss,
                  Matrix grad_scores) {
  LossArguments local = LocalArguments(args);
  local.grad_loss = grad_loss;
  local.grad_scores = grad_scores;
  const int64_t part_classes = PartClasses(args.classes);
  return ForEachRow<RowWork>(args, local, nullptr, [&](RowWork* row, int64_t n) {
    for (int64_t begin = 0; begin < args.shard_classes; begin += part_classes) {
      row->SumPart(begin, PartEnd(begin, part_classes, args.shard_classes));
    }
    return row->WriteLabelGradientFrom(label_counts + n * args.label_columns);
  });
}

template <class Sum>
Status Reduce(const double* part_sums, int64_t rows, int64_t parts, int64_t classes,
              ScoreType score_type, Reduction reduction, void* loss) {
  HeapArray<double> row_sums;
  const size_t num_sums = reduction == Reduction::kNone ? 0 : static_cast<size_t>(rows);
  if (!row_sums.Reserve(num_sums * Sum::kDoubles)) {
    return {StatusCode::kOutOfMemory, "no memory for the losses of the rows"};
  }
  const DefaultFloatEnvironment environment;
  for (int64_t n = 0; n < rows; ++n) {
    Sum row_sum;
    for (int64_t part = 0; part < parts; ++part) {
      row_sum += Sum::Load(part_sums + (n * parts + part) * Sum::kDoubles);
    }
    if (reduction == Reduction::kNone) {
      StoreLoss(row_sum.DividedBy(static_cast<double>(classes)), score_type,
                Offset(loss, n * ScoreBytes(score_type)));
    } else {
      row_sum.Save(row_sums.data() + n * Sum::kDoubles);
    }
  }
  if (reduction != Reduction::kNone) {
    StoreReduced<Sum>(row_sums.data(), rows, rows, classes, reduction, score_type, loss);
  }
  return {};
}

}  // namespace
}  // namespace kernel

int64_t PartClasses(int64_t classes) { return kernel::ClassesOfPart(classes); }

int64_t NumParts(int64_t classes, int64_t shard_classes) {
  return kernel::DivideUp(shard_classes, PartClasses(classes));
}

int SumsPerPart(ScoreType score_type) {
  return score_type == ScoreType::kFloat64 ? kernel::WideSum::kDoubles : kernel::PlainSum::kDoubles;
}

Status SumShard(const ShardArguments& arguments, double* part_sums, int64_t* label_counts,
                BadLabels* bad_labels) {
  return kernel::Guarded([&]() -> Status {
    if (bad_labels != nullptr) *bad_labels = BadLabels();
    Status status = kernel::CheckShard(arguments);
    if (status.ok()) {
      status = kernel::CheckData("part_sums", part_sums,
                                 arguments.rows > 0 && arguments.shard_classes > 0);
    }
    if (status.ok()) {
      status = kernel::CheckData("label_counts", label_counts,
                                 arguments.rows > 0 && arguments.label_columns > 0);
    }
    if (!status.ok() || arguments.rows == 0) return status;
    return arguments.score_type == ScoreType::kFloat64
               ? kernel::SumShardOf<kernel::DoubleRow>(arguments, part_sums, label_counts,
                                                       bad_labels)
               : kernel::SumShardOf<kernel::FloatRow>(arguments, part_sums, label_counts,
                                                      bad_labels);
  });
}

Status ReduceParts(const double* part_sums, int64_t rows, int64_t parts, int64_t classes,
                   ScoreType score_type, Reduction reduction, void* loss) {
  return kernel::Guarded([&]() -> Status {
    if (rows < 0) return kernel::InvalidArgument("rows", ">= 0", std::to_string(rows));
    if (parts < 0) return kernel::InvalidArgument("parts", ">= 0", std::to_string(parts));
    if (classes < 1) return kernel::InvalidArgument("classes", ">= 1", std::to_string(classes));
    Status status = kernel::CheckScoreType(score_type);
    if (status.ok()) status = kernel::CheckReduction(reduction);
    if (status.ok()) {
      status = kernel::CheckData("part_sums", part_sums, rows > 0 && parts > 0);
    }
    if (status.ok()) {
      status = kernel::CheckData("loss", loss, rows > 0 || reduction != Reduction::kNone);
    }
    if (!status.ok()) return status;
    if (rows == 0) {
      kernel::StoreEmpty(reduction, rows, score_type, loss);
      return {};
    }
    return score_type == ScoreType::kFloat64
               ? kernel::Reduce<kernel::WideSum>(part_sums, rows, parts, classes, score_type,
                                                 reduction, loss)
               : kernel::Reduce<kernel::PlainSum>(part_sums, rows, parts, classes, score_type,
                                                  reduction, loss);
  });
}

Status GradientOfShard(const ShardArguments& arguments, const int64_t* label_counts,
                       const void* grad_loss, Matrix grad_scores) {
  return kernel::Guarded([&]() -> Status {
    Status status = kernel::CheckShard(arguments);
    const bool any = arguments.rows > 0 && arguments.shard_classes > 0;
    if (status.ok()) status = kernel::CheckData("grad_scores", grad_scores.data, any);
    if (status.ok()) {
      status = kernel::CheckData("label_counts", label_counts, any && arguments.label_columns > 0);
    }
    if (!status.ok() || !any) return status;
    return arguments.score_type == ScoreType::kFloat64
               ? kernel::GradientOf<kernel::DoubleRow>(arguments, label_counts, grad_loss,
                                                       grad_scores)
               : kernel::GradientOf<kernel::FloatRow>(arguments, label_counts, grad_loss,
                                                      grad_scores);
  });
}

}  // namespace mlmargin
