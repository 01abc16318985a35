// SPDX-License-Identifier: Apache-2.0
// The list of the batches whose results' hashes are kept in golden_hashes.txt.
#ifndef MLMARGIN_TESTS_KERNEL_GOLDEN_CASES_H_
#define MLMARGIN_TESTS_KERNEL_GOLDEN_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::testing {

// How many labels a row has.
enum class GoldenDensity {
  kNone,
  kFew,  // 5.
  k20,
  k40,
  k80,
  k1000,
  kHalf,
  kAllButOne,
  kAll,
  kRepeats,     // 20 of 7 different classes.
  kOutOfRange,  // 12, every other one no class.
};

// How the scores are spread.
enum class GoldenSpread {
  kOrdinary,  // Bell-shaped, about mean 0 and standard deviation 1.
  kTrained,   // The same, but about 2 for labels and -4 for other classes.
  kClose,     // Near 100 and near 99: almost every hinge cancels.
  kLarge,     // Where the type's numbers are 2 apart.
  kTiny,      // Labels next to 0 and other classes at -1: hinges far below 1.
  kWide,      // Any finite bit pattern.
  kSpecial,   // Ordinary, with infinities and NaN in between.
  kConstant,  // One value a row.
  kTie,       // Row sums between two numbers of the type: the order of additions decides.
};

// The entries of the first row's label list, before its -1; later ones have up to 4 fewer.
int64_t GoldenLabels(GoldenDensity density, int64_t classes);

struct GoldenCase {
  int64_t classes;
  int64_t rows;
  ScoreType score_type;
  LabelType label_type;
  Reduction reduction;
  GoldenDensity density;
  GoldenSpread spread;

  std::string Name() const;
};

// All of them, in the order of the file.
std::vector<GoldenCase> GoldenCases();

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_KERNEL_GOLDEN_CASES_H_
