// SPDX-License-Identifier: Apache-2.0
// The scores and labels of a batch from files, in whichever form they have, as the library takes
// them: some rows at a time.
#ifndef TOOLS_LABELS_H_
#define TOOLS_LABELS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "array_file.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::tools {

// Of the command line.
struct BatchFiles {
  std::string scores;
  std::string labels;
  std::string offsets;    // Of CSR; then `labels` are its indices.
  bool multihot = false;  // `labels` is 0 where a class is no label.
};

// The labels of some rows. The list of row n: the elements from offsets[n] to offsets[n + 1], or
// row n of a matrix; it ends at a -1.
class Labels {
 public:
  virtual ~Labels() = default;
  virtual const char* form() const = 0;  // "padded", "CSR", "multi-hot"
  // Sets the labels of the rows from `begin` on in the library's arguments, whose `rows` says how
  // many. They hold until the next call.
  virtual void SetRows(int64_t begin, LossArguments* arguments) = 0;
  // Whether lists look like the rows of a 0/1 matrix: as many numbers as classes, more than two,
  // all 0 or 1, in every row.
  virtual bool LooksMultihot() const { return false; }
};

struct Batch {
  Array scores;
  ScoreType score_type;
  std::unique_ptr<Labels> labels;

  int64_t rows() const { return scores.rows; }
  int64_t classes() const { return scores.columns; }
};

// Throws ToolError where shapes or types do not go together.
Batch OpenBatch(const BatchFiles& files);

// How many rows make a piece of some tens of megabytes.
int64_t RowsOfPiece(const Batch& batch);

// The arguments for the rows [begin, begin + rows) without outputs.
LossArguments PieceOf(const Batch& batch, int64_t begin, int64_t rows);

// Label k of the list of row n of the arguments; and how many there are, padding included.
int64_t ListLength(const LossArguments& arguments, int64_t n);
int64_t LabelAt(const LossArguments& arguments, int64_t n, int64_t k);

}  // namespace mlmargin::tools

#endif  // TOOLS_LABELS_H_
