// SPDX-License-Identifier: Apache-2.0
#include "support/exact_row.h"

#include <cmath>

namespace mlmargin::testing {
namespace {

// Scores and hinges are whole numbers of this unit, 2^-1074.
constexpr int kUnitExponent = -1074;

mpz_class ToUnits(double value) {
  int exponent = 0;
  const mpz_class mantissa(std::ldexp(std::frexp(value, &exponent), 53));
  const int shift = exponent - 53 - kUnitExponent;
  if (shift >= 0) return mantissa << static_cast<unsigned>(shift);
  return mantissa >> static_cast<unsigned>(-shift);  // Exact: the low bits are zero.
}

}  // namespace

ExactRow::ExactRow(const std::vector<double>& scores, const std::vector<int64_t>& labels)
    : counts(scores.size()) {
  const mpz_class one = mpz_class(1) << static_cast<unsigned>(-kUnitExponent);
  std::vector<int> is_label(scores.size());
  std::vector<mpz_class> units(scores.size());
  mpz_class units_sum = 0, threshold, hinge;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isfinite(scores[i])) units[i] = ToUnits(scores[i]);
  }
  const auto is_class = [&](int64_t label) {
    return label >= 0 && label < static_cast<int64_t>(scores.size());
  };
  for (const int64_t label : labels) {
    if (is_class(label)) is_label[static_cast<size_t>(label)] = 1;
  }
  for (const int64_t label : labels) {
    if (!is_class(label)) continue;
    const auto j = static_cast<size_t>(label);
    threshold = units[j] - one;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (is_label[i] != 0) continue;
      bool active = false;
      if (std::isfinite(scores[i]) && std::isfinite(scores[j])) {
        hinge = units[i] - threshold;
        active = hinge > 0;
        if (active) units_sum += hinge;
      } else {
        active = (1 - scores[j]) + scores[i] > 0;
        infinite = infinite || active;
      }
      if (!active) continue;
      ++counts[i];
      --counts[j];
    }
  }
  sum = mpq_class(units_sum, one);
  sum.canonicalize();
}

}  // namespace mlmargin::testing
