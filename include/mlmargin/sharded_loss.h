// SPDX-License-Identifier: Apache-2.0
// The loss and its gradient where the classes are spread over several machines: each has a
// contiguous range of the columns, a shard, of every row. What travels between them is left to the
// caller and small: the scores of the labels, sums of parts of rows, and a count for each label.
//
//   1. Every shard gets the scores of all labels of its rows (label_scores).
//   2. SumShard() gives, for each shard, the sums of the parts of its rows and, for each label, how
//      many of the shard's classes have a hinge with it.
//   3. All part sums, in the order of the classes, give the loss: ReduceParts(). The counts of all
//      shards, added up, go into GradientOfShard(), which writes the shard's gradient.
//
// Gradients are bit for bit those of MultilabelMarginLoss() on whole rows. So is the loss where
// every shard begins at a multiple of PartClasses(classes) and there are more than 128 classes;
// else it is within 1 ulp of the exact value all the same.
//
// Errors, cost and memory are those of MultilabelMarginLoss(); GradientOfShard() takes another 16
// bytes per label of the rows in work. Thread-safe. A call runs over rows.
#ifndef MLMARGIN_SHARDED_LOSS_H_
#define MLMARGIN_SHARDED_LOSS_H_

#include <cstdint>

#include "mlmargin/export.h"
#include "mlmargin/multilabel_margin_loss.h"
#include "mlmargin/status.h"

namespace mlmargin {

// The classes [first_class, first_class + shard_classes) of `classes` in all.
struct ShardArguments {
  int64_t rows = 0;                            // N >= 0.
  int64_t classes = 0;                         // C >= 1, of all shards.
  int64_t first_class = 0;                     // >= 0.
  int64_t shard_classes = 0;                   // S >= 0; first_class + S <= C.
  ScoreType score_type = ScoreType::kFloat32;  // Of scores, loss and gradients.
  LabelType label_type = LabelType::kInt64;    // Of labels.
  Reduction reduction = Reduction::kMean;      // Of the whole loss.
  ConstMatrix scores;                          // N x S.
  ConstMatrix labels;         // N x K, numbers among all C classes; a list ends at its first -1.
  int64_t label_columns = 0;  // K >= 0.
  ConstMatrix label_scores;   // N x K, of score_type: the score of each label of `labels`.
  int max_threads = 0;        // As in LossArguments.
};

// How many classes a part has.
MLMARGIN_API int64_t PartClasses(int64_t classes);
// How many parts the classes of a shard make, the last one shorter as it may be.
MLMARGIN_API int64_t NumParts(int64_t classes, int64_t shard_classes);
// How many doubles a part sum is.
MLMARGIN_API int SumsPerPart(ScoreType score_type);

// part_sums: N x NumParts() x SumsPerPart(), contiguous. label_counts: N x K, contiguous; 0 for
// what is no label. Labels outside [0, C) are skipped, as in MultilabelMarginLoss().
MLMARGIN_API Status SumShard(const ShardArguments& arguments, double* part_sums,
                             int64_t* label_counts, BadLabels* bad_labels);

// The loss, of `score_type` and N elements for kNone, else 1, from N x `parts` part sums.
MLMARGIN_API Status ReduceParts(const double* part_sums, int64_t rows, int64_t parts,
                                int64_t classes, ScoreType score_type, Reduction reduction,
                                void* loss);

// The gradient of the shard's scores, N x S. label_counts: N x K, contiguous, the sum of all
// shards'. grad_loss: as in LossArguments, contiguous.
MLMARGIN_API Status GradientOfShard(const ShardArguments& arguments, const int64_t* label_counts,
                                    const void* grad_loss, Matrix grad_scores);

}  // namespace mlmargin

#endif  // MLMARGIN_SHARDED_LOSS_H_
