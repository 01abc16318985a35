// SPDX-License-Identifier: Apache-2.0
// The multilabel margin (hinge) loss of a batch of rows, and its gradient.
//
//   loss[n] = 1/C * sum over labels j of row n, sum over classes i that are no label of row n,
//             of max(0, 1 - (x[n][j] - x[n][i]))
//
// x are the scores, C is the number of classes. The labels of a row are the entries of its label
// list before the first -1; a label listed twice counts twice. This is the definition of PyTorch's
// multilabel_margin_loss and of CANN's aclnnMultilabelMarginLoss.
//
// The gradient of loss[n] by the score of a class that is no label is 1/C times the number of list
// entries j with 1 - x[n][j] + x[n][i] > 0; by that of a label k it is -1/C times the number of
// such i with 1 - x[n][k] + x[n][i] > 0, for each time that k is listed. So a hinge of exactly 0
// has gradient 0, as in PyTorch.
#ifndef MLMARGIN_MULTILABEL_MARGIN_LOSS_H_
#define MLMARGIN_MULTILABEL_MARGIN_LOSS_H_

#include <cstdint>

#include "mlmargin/export.h"
#include "mlmargin/status.h"

namespace mlmargin {

// IEEE binary32, binary16, bfloat16, IEEE binary64.
enum class ScoreType { kFloat32, kFloat16, kBFloat16, kFloat64 };
// Of labels, and of the offsets of their lists.
enum class LabelType { kInt32, kInt64 };

// What becomes of the rows' losses.
enum class Reduction {
  kNone,  // loss[n] for each row.
  kMean,  // One element: the sum of the rows' losses divided by their number, or by mean_rows.
  kSum,   // One element: the sum of the rows' losses.
};

// A strided matrix: element (n, i) sits at data + (n * row_stride + i * column_stride) elements.
// Strides may be 0 for inputs. Data needs no alignment beyond what its maker gave it.
struct ConstMatrix {
  const void* data = nullptr;  // Element (0, 0).
  int64_t row_stride = 0;      // In elements.
  int64_t column_stride = 1;   // In elements.
};
// The same to be written; no two elements may share a byte.
struct Matrix {
  void* data = nullptr;       // Element (0, 0).
  int64_t row_stride = 0;     // In elements.
  int64_t column_stride = 1;  // In elements.
};

// The arguments of one call. What it computes is what it is given memory for: the loss, the
// gradient, or both in one pass; and the mask of the labels. No output may share a byte with an
// input or another output.
struct LossArguments {
  int64_t rows = 0;                            // N >= 0.
  int64_t classes = 0;                         // C >= 1.
  ScoreType score_type = ScoreType::kFloat32;  // Of scores, loss, mask and gradients.
  LabelType label_type = LabelType::kInt64;    // Of labels.
  Reduction reduction = Reduction::kMean;      // Of loss.
  ConstMatrix scores;                          // N x C.

  // Label lists as rows: N x label_columns, of any number. A list ends at its first -1, or here.
  ConstMatrix labels;
  int64_t label_columns = 0;  // >= 0.
  // Or, unless null, without padding (CSR): the list of row n is the elements label_offsets[n] to
  // label_offsets[n + 1] - 1 of the label_columns contiguous ones at labels.data, whose strides
  // are not looked at. N + 1 offsets, none negative, below the one before, or above label_columns.
  const void* label_offsets = nullptr;
  LabelType offset_type = LabelType::kInt64;  // Of label_offsets.

  // Outputs; one whose data is null is not computed. `loss` or `grad_scores` must be there.
  void* loss = nullptr;     // N elements for kNone, else 1.
  int64_t loss_stride = 1;  // In elements, for kNone.
  Matrix mask;              // N x C: 1 at labels, else 0.
  Matrix grad_scores;       // N x C: the gradient of `loss`, times grad_loss.

  // The gradient by the loss: N elements for kNone, else 1, of score_type; null stands for ones.
  const void* grad_loss = nullptr;
  int64_t grad_loss_stride = 1;  // In elements, for kNone.

  // For a batch that is computed in pieces, some rows at a time: the rows of the whole batch, by
  // which kMean divides; from N to 2^53 / C. 0: N. The gradient is then that of the whole batch,
  // bit for bit; so is its loss, if ReduceParts() of sharded_loss.h makes it, with one part, from
  // the row_losses of all pieces.
  int64_t mean_rows = 0;

  // Scratch for a loss with kMean or kSum: N doubles, 2 * N for kFloat64. Null: from the heap. Left
  // with the sum of the hinges of each row.
  double* row_losses = nullptr;
  bool reject_bad_labels = false;  // Look at all labels first and write nothing if one is bad.
  int max_threads = 0;             // At most so many, the caller's among them; 0: NumThreads().
};

// Labels outside [0, C) that are not the -1 that ends a row: they are skipped.
struct BadLabels {
  int64_t count = 0;    // How many there are.
  int64_t row = -1;     // Of the first one, in row-major order.
  int64_t column = -1;  // Its position in the row's list.
  int64_t value = 0;    // What it is.
};

// Computes the loss, the mask and the gradient of a batch, as far as there is memory for them.
//
// Loss: every finite one is within 1 ulp, in score_type, of the exact value for the scores as
// stored. A pair counts when 1 - x[j] + x[i] > 0: NaN gives no contribution, +inf stays +inf. No
// rows: kNone writes nothing, kSum 0, kMean NaN (0 for a piece of a batch that has some).
//
// Gradient: the counts of its formula are exact; what is stored is within 1 ulp of
// count * grad_loss / C, for kMean / N. A label that is +inf or NaN has none; of a -inf label every
// pair with a class above -inf counts.
//
// The bits of all outputs, but for the sign and payload of NaN, do not depend on threads, strides,
// alignment, neighbours in the batch, SIMD target, the caller's floating-point environment, or on
// which other outputs there are.
//
// Errors: kInvalidArgument (sizes, null data, offsets; nothing written), kLabelOutOfRange (only
// with reject_bad_labels; nothing written), kOutOfMemory. `bad_labels` may be null. No exceptions.
//
// Cost of a row of C classes and L labels: O(C * L) for at most 48 labels, or at most 128 classes
// and 64 labels; for more O((C + L) * log L), whatever the scores. Where hardly any score is above
// the lowest label's less 1, as for a trained model, little more than reading the scores and
// writing the outputs. Memory: up to 32 bytes per label of the rows in work, with a gradient 48
// (64 and 80 for kFloat64), and nothing on the heap for float rows of at most 64 labels without a
// gradient. Runs over rows or, where rows are few and long, over classes. Thread-safe.
MLMARGIN_API Status MultilabelMarginLoss(const LossArguments& arguments, BadLabels* bad_labels);

}  // namespace mlmargin

#endif  // MLMARGIN_MULTILABEL_MARGIN_LOSS_H_
