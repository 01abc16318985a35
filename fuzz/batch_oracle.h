// SPDX-License-Identifier: Apache-2.0
// A batch of any score type, and what the definition says for it.
#ifndef MLMARGIN_FUZZ_BATCH_ORACLE_H_
#define MLMARGIN_FUZZ_BATCH_ORACLE_H_

#include <cstdint>
#include <vector>

#include "fuzz_support.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::fuzz {

ScoreFormat FormatOf(ScoreType type);

// The values of a batch, wherever they lie.
struct Batch {
  ScoreType type = ScoreType::kFloat32;
  Reduction reduction = Reduction::kNone;
  int64_t rows = 0;
  int64_t classes = 1;
  std::vector<std::vector<double>> scores;
  std::vector<std::vector<int64_t>> labels;  // As stored: with the -1 and what follows it.
  std::vector<double> grad_loss;             // For kNone one a row, else one; empty: ones.

  ScoreFormat format() const { return FormatOf(type); }
  int64_t num_losses() const { return reduction == Reduction::kNone ? rows : 1; }
};

// The elements of the outputs, row-major; empty where one was not asked for.
struct Outputs {
  std::vector<uint64_t> loss, mask, gradient;

  bool operator==(const Outputs&) const = default;
  // Makes all NaNs the same: their sign and payload are not promised.
  void UnifyNaNs(ScoreFormat format);
};

// Fails unless the outputs are those of the batch: within 1 ulp, the mask exactly.
void Judge(const Batch& batch, const Outputs& outputs);

// What must be said of the labels out of range.
BadLabels ExpectedBadLabels(const Batch& batch);

}  // namespace mlmargin::fuzz

#endif  // MLMARGIN_FUZZ_BATCH_ORACLE_H_
