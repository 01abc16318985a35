// SPDX-License-Identifier: Apache-2.0
// The multilabel margin (hinge) loss of a batch of rows.
//
//   loss[n] = 1/C * sum over labels j of row n, sum over classes i that are no label of row n,
//             of max(0, 1 - (x[n][j] - x[n][i]))
//
// x are the scores, C is the number of classes. The labels of a row are the entries of its label
// list before the first -1; a label listed twice counts twice. This is the definition of PyTorch's
// multilabel_margin_loss and of CANN's aclnnMultilabelMarginLoss.
#ifndef MLMARGIN_MULTILABEL_MARGIN_LOSS_H_
#define MLMARGIN_MULTILABEL_MARGIN_LOSS_H_

#include <cstdint>

#include "mlmargin/export.h"
#include "mlmargin/status.h"

namespace mlmargin {

enum class ScoreType { kFloat32, kFloat16, kBFloat16 };  // IEEE binary32, binary16; bfloat16.
enum class LabelType { kInt32, kInt64 };

enum class Reduction {
  kNone,  // loss[n] for each row.
  kMean,  // One element: the sum of the rows' losses divided by their number.
  kSum,   // One element: the sum of the rows' losses.
};

// A strided matrix: element (n, i) sits at data + (n * row_stride + i * column_stride) elements.
// Strides may be 0 for inputs. Data needs no alignment beyond what its maker gave it.
struct ConstMatrix {
  const void* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 1;
};
struct Matrix {
  void* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 1;
};

// The arguments of one call. No output may share a byte with an input or another output.
struct LossArguments {
  int64_t rows = 0;                            // N >= 0.
  int64_t classes = 0;                         // C >= 1.
  ScoreType score_type = ScoreType::kFloat32;  // Of scores, loss and mask.
  LabelType label_type = LabelType::kInt64;
  Reduction reduction = Reduction::kMean;
  ConstMatrix scores;              // N x C.
  ConstMatrix labels;              // N x label_columns.
  int64_t label_columns = 0;       // >= 0; a row without -1 ends here.
  void* loss = nullptr;            // N elements for kNone, else 1.
  int64_t loss_stride = 1;         // In elements, for kNone.
  Matrix mask;                     // N x C: 1 at labels, else 0; data may be null: no mask.
  double* row_losses = nullptr;    // Scratch of N elements for kMean and kSum; unused for kNone.
  bool reject_bad_labels = false;  // Look at all labels first and write nothing if one is bad.
};

// Labels outside [0, C) that are not the -1 that ends a row: they are skipped.
struct BadLabels {
  int64_t count = 0;
  int64_t row = -1;  // Of the first one, in row-major order.
  int64_t column = -1;
  int64_t value = 0;
};

// Computes the loss and the mask of a batch.
//
// Result: every finite loss is within 1 ulp, in score_type, of the exact value for the scores as
// stored. A pair counts when 1 - x[j] + x[i] > 0: NaN gives no contribution, +inf stays +inf. No
// rows: kNone writes nothing, kSum 0, kMean NaN. The bits do not depend on threads, strides,
// alignment, neighbours in the batch, SIMD target or the caller's floating-point environment.
//
// Errors: kInvalidArgument (sizes, null data; nothing written), kLabelOutOfRange (only with
// reject_bad_labels; nothing written), kOutOfMemory. `bad_labels` may be null.
//
// Cost of a row of C classes and L labels: O(C * L) for at most 48 labels, or at most 128 classes
// and 64 labels; for more O((C + L) * log L), whatever the scores. Where hardly any score is above
// the lowest label's less 1, as for a trained model, little more than reading the scores and
// writing the mask. Memory: up to 32 bytes per label of the rows in work, and nothing on the heap
// for rows of at most 64 labels. Runs on up to NumThreads() threads, over rows or, where rows are
// few and long, over classes. Thread-safe.
MLMARGIN_API Status MultilabelMarginLoss(const LossArguments& arguments, BadLabels* bad_labels);

}  // namespace mlmargin

#endif  // MLMARGIN_MULTILABEL_MARGIN_LOSS_H_
