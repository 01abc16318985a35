// SPDX-License-Identifier: Apache-2.0
// What is measured: the shapes, and for each the data types and numbers of threads.
#ifndef BENCH_CASES_H_
#define BENCH_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::bench {

enum class ScoreKind {
  kNormal,   // All N(0, 1).
  kTrained,  // Labels N(2, 1), the others N(-4, 1): what a trained model gives.
};

struct Shape {
  std::string
      group;         // "published", "trained", "half-dense", "tiny"; for plots "labels", "threads".
  std::string name;  // Within the group.
  int64_t rows;
  int64_t classes;
  int64_t labels;  // Of each row, all different.
  ScoreKind score_kind = ScoreKind::kNormal;
};

// What a call computes.
enum class Pass {
  kLoss,      // The loss and the mask.
  kBackward,  // The gradient.
  kFused,     // The loss and the gradient.
};

struct Case {
  Shape shape;
  ScoreType score_type;
  LabelType label_type;
  int threads;
  bool against_pytorch;  // PyTorch has only one kind of each type.
  Pass pass = Pass::kLoss;

  std::string Name() const;  // "published/EURLex-4K/float32/int64/1/loss"
};

const char* ScoreTypeName(ScoreType type);
const char* LabelTypeName(LabelType type);
const char* PassName(Pass pass);

// All cases, those of one shape one after the other. `thread_counts` are those of the tables; the
// group "threads" goes from 1 to `max_threads`.
std::vector<Case> AllCases(const std::vector<int>& thread_counts, int max_threads);

}  // namespace mlmargin::bench

#endif  // BENCH_CASES_H_
