// SPDX-License-Identifier: Apache-2.0
// The oracle of the gradient: pairs counted by exact comparisons, straight from the definition.
#ifndef MLMARGIN_TESTS_SUPPORT_EXACT_GRADIENT_H_
#define MLMARGIN_TESTS_SUPPORT_EXACT_GRADIENT_H_

#include <cstdint>
#include <vector>

#include "support/batch.h"
#include "support/exact_loss.h"

namespace mlmargin::testing {

// By class, C times the gradient of the row's loss: the pairs (entry j of the list, class i that is
// no label) with 1 - x[j] + x[i] > 0, for i counted up and for j down.
std::vector<int64_t> ExactPairCounts(const std::vector<double>& scores,
                                     const std::vector<int64_t>& labels);

// What the definition says for the gradient of a batch's loss by its scores.
class ExpectedGradient {
 public:
  explicit ExpectedGradient(const Batch& batch);

  // Row-major; times `grad_losses`, finite bit patterns: for reduction 0 one a row, else one.
  std::vector<ExactValue> Values(int64_t reduction, const std::vector<uint32_t>& grad_losses) const;

 private:
  FloatFormat format_;
  int64_t rows_;
  int64_t classes_;
  std::vector<int64_t> counts_;  // Row-major.
};

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_SUPPORT_EXACT_GRADIENT_H_
