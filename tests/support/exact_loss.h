// SPDX-License-Identifier: Apache-2.0
// The oracle: the multilabel margin loss in exact arithmetic, slow and straight from its
// definition. Shares nothing with the library but the definition.
#ifndef MLMARGIN_TESTS_SUPPORT_EXACT_LOSS_H_
#define MLMARGIN_TESTS_SUPPORT_EXACT_LOSS_H_

#include <gmpxx.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace mlmargin::testing {

// A binary floating-point type by its fields.
struct FloatFormat {
  const char* name;
  int bits;
  int mantissa_bits;  // As stored.
  int max_exponent;   // Of the largest finite value: 127 or 15.

  int min_exponent() const { return 1 - max_exponent; }
  uint32_t infinity() const { return ((1u << (bits - 1)) - 1) & ~((1u << mantissa_bits) - 1); }
  uint32_t quiet_nan() const { return infinity() | (1u << (mantissa_bits - 1)); }
  uint32_t one() const { return static_cast<uint32_t>(max_exponent) << mantissa_bits; }
};
// For the names of tests.
inline void PrintTo(const FloatFormat& format, std::ostream* out) { *out << format.name; }

inline constexpr FloatFormat kFloat32 = {"float32", 32, 23, 127};
inline constexpr FloatFormat kFloat16 = {"float16", 16, 10, 15};
inline constexpr FloatFormat kBFloat16 = {"bfloat16", 16, 7, 127};

// The value of a bit pattern; exact, every value of the three formats is a double.
double Decode(const FloatFormat& format, uint32_t bits);

// A bit pattern near `value`: the next one towards zero, or the largest finite one. For making
// test data; infinities and NaN stay what they are.
uint32_t EncodeNear(const FloatFormat& format, double value);

// A sum of hinges, or a gradient: +inf, or an exact rational.
struct ExactValue {
  bool infinite = false;
  mpq_class value = 0;

  ExactValue& operator+=(const ExactValue& other);
  ExactValue operator/(int64_t divisor) const;
};

// Sum over the labels (list entries before the first -1 that are in [0, C)) and the non-labels of
// max(0, 1 - x[j] + x[i]), not divided by C.
ExactValue ExactRowSum(const std::vector<double>& scores, const std::vector<int64_t>& labels);

// The mask of a row, 1 at labels.
std::vector<int> ExactMask(size_t classes, const std::vector<int64_t>& labels);

// |got - exact| in units of the last place of the exact value in `format`. 0 when both are +inf;
// an overflow counts as the value after the largest finite one. NaN or a wrong sign, of a zero too,
// is infinitely wrong.
double UlpError(const FloatFormat& format, const ExactValue& exact, uint32_t got);

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_SUPPORT_EXACT_LOSS_H_
