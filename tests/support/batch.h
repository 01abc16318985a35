// SPDX-License-Identifier: Apache-2.0
// Made-up batches for the tests, and what must come out for them.
#ifndef MLMARGIN_TESTS_SUPPORT_BATCH_H_
#define MLMARGIN_TESTS_SUPPORT_BATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "support/exact_loss.h"

namespace mlmargin::testing {

enum class Density { kNone, kFew, kHalf, kAll };
inline constexpr Density kAllDensities[] = {Density::kNone, Density::kFew, Density::kHalf,
                                            Density::kAll};

// How the scores are spread.
enum class Spread {
  kOrdinary,  // Normal, standard deviation 2.
  kTiny,      // Down to the smallest subnormal, with a -1 here and there: hinges far below 1.
  kClose,     // Near 100 and near 99, so that almost every hinge cancels.
  kWide,      // Any finite bit pattern.
};
inline constexpr Spread kAllSpreads[] = {Spread::kOrdinary, Spread::kTiny, Spread::kClose,
                                         Spread::kWide};

struct Batch {
  FloatFormat format = kFloat32;
  int64_t rows = 0;
  int64_t classes = 0;
  std::vector<uint32_t> scores;  // Bit patterns, row-major.
  std::vector<int64_t> labels;   // Row-major, padded with -1 and, behind it, anything.

  std::vector<double> RowScores(int64_t row) const;
  std::vector<int64_t> RowLabels(int64_t row) const;
  std::string Name() const;
};

// Deterministic in its arguments. Labels are in no order and, in the half-dense rows, may repeat;
// what follows a row's -1 is junk that nobody may read.
Batch MakeBatch(const FloatFormat& format, int64_t rows, int64_t classes, Density density,
                Spread spread, uint64_t seed);

// Every triple of infinities, NaN, zeros and others that are special, a row each: class 0 is the
// label, the others are not.
Batch MakeSpecialBatch(const FloatFormat& format);

// What the definition says for a batch.
class Expected {
 public:
  explicit Expected(const Batch& batch);

  // By reduction 0 none, 1 mean, 2 sum. For none one value a row, else one in all.
  std::vector<ExactValue> Losses(int64_t reduction) const;
  const std::vector<int>& mask() const { return mask_; }

 private:
  int64_t rows_;
  int64_t classes_;
  std::vector<ExactValue> row_sums_;
  std::vector<int> mask_;
};

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_SUPPORT_BATCH_H_
