// SPDX-License-Identifier: Apache-2.0
// Batches of any score type, float64 among them, by the values of their scores, and a run of the
// C++ API on them with every output.
#ifndef MLMARGIN_TESTS_KERNEL_TYPED_PROBLEM_H_
#define MLMARGIN_TESTS_KERNEL_TYPED_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mlmargin/multilabel_margin_loss.h"
#include "support/batch.h"

namespace mlmargin::testing {

inline constexpr ScoreType kAllTypes[] = {ScoreType::kFloat32, ScoreType::kFloat16,
                                          ScoreType::kBFloat16, ScoreType::kFloat64};
const char* TypeName(ScoreType type);
size_t TypeBytes(ScoreType type);

// The bytes of a value that the type can represent, and back.
void EncodeValue(ScoreType type, double value, unsigned char* to);
double DecodeValue(ScoreType type, const unsigned char* from);
// The value of the type next to `value` towards zero.
double Representable(ScoreType type, double value);
// The distance of two numbers next to each other in the type, where `value` is.
double UlpOf(ScoreType type, double value);

struct Problem {
  ScoreType type = ScoreType::kFloat32;
  int64_t classes = 0;
  std::vector<std::vector<double>> scores;  // By row; what the type can represent.
  std::vector<std::vector<int64_t>> labels;
  std::vector<double> grad_loss;  // One a row; empty: none is given.
  Reduction reduction = Reduction::kNone;

  int64_t rows() const { return static_cast<int64_t>(scores.size()); }
  std::string Name() const;
};

// Of the batches of tests/support; of float64 their bits as float32, with digits behind them.
Problem MakeProblem(ScoreType type, int64_t rows, int64_t classes, Density density, Spread spread,
                    uint64_t seed);

struct RunOptions {
  bool loss = true;
  bool mask = true;
  bool gradient = true;
  bool csr = false;
  LabelType label_type = LabelType::kInt64;
  LabelType offset_type = LabelType::kInt64;
  int64_t column_step = 1;  // Of scores and outputs, in elements.
  int64_t pitch_extra = 0;  // Elements from row to row, besides.
  size_t misalignment = 0;  // In bytes.
  int max_threads = 0;
};

// Bytes of the outputs, row-major and contiguous; what was not asked for is empty.
struct ProblemResult {
  std::vector<unsigned char> loss, mask, gradient;
  BadLabels bad_labels;
};

// Runs it; expects success, and the bytes between the elements of outputs untouched.
ProblemResult RunProblem(const Problem& problem, const RunOptions& options = {});

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_KERNEL_TYPED_PROBLEM_H_
