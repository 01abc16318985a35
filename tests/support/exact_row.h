// SPDX-License-Identifier: Apache-2.0
// The oracle for scores of any type, float64 among them: one row, pair for pair, in exact
// arithmetic.
#ifndef MLMARGIN_TESTS_SUPPORT_EXACT_ROW_H_
#define MLMARGIN_TESTS_SUPPORT_EXACT_ROW_H_

#include <gmpxx.h>

#include <cstdint>
#include <vector>

namespace mlmargin::testing {

struct ExactRow {
  std::vector<int64_t> counts;  // By class; C times the gradient of the row's loss.
  mpq_class sum = 0;            // Of the finite hinges: C times the row's loss.
  bool infinite = false;        // A hinge is +inf.

  // `labels` is the whole list; what is no class in it is skipped, -1 too.
  ExactRow(const std::vector<double>& scores, const std::vector<int64_t>& labels);
};

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_SUPPORT_EXACT_ROW_H_
