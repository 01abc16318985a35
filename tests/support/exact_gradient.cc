// SPDX-License-Identifier: Apache-2.0
#include "support/exact_gradient.h"

#include <cmath>
#include <string>

namespace mlmargin::testing {
namespace {

// Every finite score, and 1, is a whole number of units of 2^-149.
mpz_class InUnits(double value) {
  mpq_class scaled(value);
  scaled *= mpq_class(mpz_class(1) << 149u);
  return scaled.get_num();  // The denominator is 1.
}

// Decides 1 - x[j] + x[i] > 0 for one label j.
class PairTest {
 public:
  PairTest(double label, const mpz_class& one) : label_(label) {
    if (std::isfinite(label)) threshold_ = InUnits(label) - one;
  }
  // `units` is `other` in units if that is finite. With an infinity or a NaN IEEE arithmetic is
  // exact: the sum is +inf, -inf or NaN.
  bool Counts(double other, const mpz_class& units) const {
    if (!std::isfinite(label_) || !std::isfinite(other)) return (1.0 - label_) + other > 0;
    return units > threshold_;
  }

 private:
  double label_;
  mpz_class threshold_;
};

}  // namespace

std::vector<int64_t> ExactPairCounts(const std::vector<double>& scores,
                                     const std::vector<int64_t>& labels) {
  const mpz_class one = InUnits(1.0);
  const std::vector<int> mask = ExactMask(scores.size(), labels);
  std::vector<mpz_class> units(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isfinite(scores[i])) units[i] = InUnits(scores[i]);
  }
  std::vector<int64_t> counts(scores.size(), 0);
  for (const int64_t entry : labels) {
    if (entry == -1) break;
    if (entry < 0 || static_cast<uint64_t>(entry) >= scores.size()) continue;
    const auto j = static_cast<size_t>(entry);
    const PairTest test(scores[j], one);
    for (size_t i = 0; i < scores.size(); ++i) {
      if (mask[i] != 0 || !test.Counts(scores[i], units[i])) continue;
      ++counts[i];
      --counts[j];
    }
  }
  return counts;
}

ExpectedGradient::ExpectedGradient(const Batch& batch)
    : format_(batch.format), rows_(batch.rows), classes_(batch.classes) {
  for (int64_t n = 0; n < batch.rows; ++n) {
    const std::vector<int64_t> row = ExactPairCounts(batch.RowScores(n), batch.RowLabels(n));
    counts_.insert(counts_.end(), row.begin(), row.end());
  }
}

std::vector<ExactValue> ExpectedGradient::Values(int64_t reduction,
                                                 const std::vector<uint32_t>& grad_losses) const {
  std::vector<ExactValue> values;
  for (int64_t k = 0; k < rows_ * classes_; ++k) {
    const auto row = static_cast<size_t>(reduction == 0 ? k / classes_ : 0);
    ExactValue value;
    value.value = mpq_class(std::to_string(counts_[static_cast<size_t>(k)]));
    value.value *= mpq_class(Decode(format_, grad_losses[row]));
    value = value / classes_;
    values.push_back(reduction == 1 ? value / rows_ : value);
  }
  return values;
}

}  // namespace mlmargin::testing
