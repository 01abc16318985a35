// SPDX-License-Identifier: Apache-2.0
// What the arguments of a call say about one of its rows.
#ifndef MLMARGIN_KERNEL_ROW_ARGUMENTS_H_
#define MLMARGIN_KERNEL_ROW_ARGUMENTS_H_

#include <cstdint>

#include "kernel/element.h"
#include "kernel/label_list.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::kernel {

inline int64_t LoadInteger(LabelType type, const void* from) {
  return type == LabelType::kInt32 ? LoadUnaligned<int32_t>(from) : LoadUnaligned<int64_t>(from);
}

// The n-th of the label offsets.
inline int64_t LabelOffset(const LossArguments& args, int64_t n) {
  return LoadInteger(args.offset_type,
                     Offset(args.label_offsets, n * LabelBytes(args.offset_type)));
}

inline LabelRow LabelsOfRow(const LossArguments& args, int64_t n) {
  const int64_t bytes = LabelBytes(args.label_type);
  if (args.label_offsets != nullptr) {
    const int64_t begin = LabelOffset(args, n);
    return {Offset(args.labels.data, begin * bytes), 1, LabelOffset(args, n + 1) - begin,
            args.label_type};
  }
  // Without columns there may be no data either, and nothing to add to.
  const int64_t distance = args.label_columns == 0 ? 0 : n * args.labels.row_stride * bytes;
  return {Offset(args.labels.data, distance), args.labels.column_stride, args.label_columns,
          args.label_type};
}

inline const void* ScoresOfRow(const LossArguments& args, int64_t n) {
  // Without classes, as a shard may be, there may be no data either.
  const int64_t distance = args.classes == 0 ? 0 : n * args.scores.row_stride;
  return Offset(args.scores.data, distance * ScoreBytes(args.score_type));
}

// Where the classes of a call are a shard, a range of all of them. The labels are then numbers
// among all, and their scores are given apart.
struct Shard {
  int64_t first_class;
  int64_t classes;           // In all.
  ConstMatrix label_scores;  // Like the labels.

  ShardLabels LabelsOfRow(ScoreType type, int64_t n) const {
    const int64_t distance = label_scores.data == nullptr ? 0 : n * label_scores.row_stride;
    return {first_class, classes, Offset(label_scores.data, distance * ScoreBytes(type)),
            label_scores.column_stride};
  }
};

// The classes that a loss is divided by.
inline int64_t AllClasses(const LossArguments& args, const Shard* shard) {
  return shard == nullptr ? args.classes : shard->classes;
}

// The rows that a mean is divided by.
inline int64_t MeanRows(const LossArguments& args) {
  return args.mean_rows != 0 ? args.mean_rows : args.rows;
}

// The gradient by the loss of row n, and what it is divided by before it counts a pair.
struct GradLoss {
  double value = 1;
  double divisor;

  GradLoss(const LossArguments& args, int64_t classes, int64_t n)
      : divisor(static_cast<double>(classes)) {
    if (args.reduction == Reduction::kMean) divisor *= static_cast<double>(MeanRows(args));
    if (args.grad_loss == nullptr) return;
    const int64_t at = args.reduction == Reduction::kNone ? n * args.grad_loss_stride : 0;
    value = LoadScoreAsDouble(args.score_type,
                              Offset(args.grad_loss, at * ScoreBytes(args.score_type)));
  }

  // What one pair adds to the gradient of a class that is no label.
  double PerPair() const { return value / divisor; }
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_ROW_ARGUMENTS_H_
