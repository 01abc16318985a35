// SPDX-License-Identifier: Apache-2.0
#include "support/exact_loss.h"

#include <cmath>
#include <limits>

namespace mlmargin::testing {
namespace {

// The scores and all hinges are whole numbers of this unit, 2^-149.
constexpr int kUnitExponent = -149;

mpz_class ToUnits(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // In [0.5, 1).
  mpz_class units(std::ldexp(mantissa, 53));
  const int shift = exponent - 53 - kUnitExponent;
  if (shift >= 0) return units << static_cast<unsigned>(shift);
  return units >> static_cast<unsigned>(-shift);  // Exact: the low bits are zero.
}

mpq_class PowerOfTwo(int exponent) {
  const mpz_class power = mpz_class(1) << static_cast<unsigned>(std::abs(exponent));
  return exponent >= 0 ? mpq_class(power) : mpq_class(mpz_class(1), power);
}

// Whether the hinge of two scores of which one is not finite is +inf; else it adds nothing. IEEE
// arithmetic settles it: 1 - label + other is +inf, -inf or NaN.
bool SpecialHingeIsInfinite(double label, double other) { return (1.0 - label) + other > 0; }

int FloorLog2(const mpq_class& value) {  // value > 0.
  auto exponent = static_cast<int>(mpz_sizeinbase(value.get_num_mpz_t(), 2)) -
                  static_cast<int>(mpz_sizeinbase(value.get_den_mpz_t(), 2));
  while (PowerOfTwo(exponent) > value) --exponent;
  while (PowerOfTwo(exponent + 1) <= value) ++exponent;
  return exponent;
}

}  // namespace

double Decode(const FloatFormat& format, uint32_t bits) {
  const uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1);
  const uint32_t magnitude = bits & ((1u << (format.bits - 1)) - 1);
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const double sign = (bits >> (format.bits - 1)) != 0 ? -1.0 : 1.0;
  if (magnitude >= format.infinity()) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0)
    return sign * std::ldexp(mantissa, format.min_exponent() - format.mantissa_bits);
  return sign * std::ldexp(mantissa + std::ldexp(1.0, format.mantissa_bits),
                           exponent - format.max_exponent - format.mantissa_bits);
}

uint32_t EncodeNear(const FloatFormat& format, double value) {
  const uint32_t sign = std::signbit(value) ? 1u << (format.bits - 1) : 0;
  if (std::isnan(value)) return format.quiet_nan();
  if (std::isinf(value)) return sign | format.infinity();
  const double magnitude = std::fabs(value);
  // Bit patterns of one sign are in the order of their values: bisect.
  uint32_t low = 0, high = format.infinity();
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (Decode(format, middle) <= magnitude ? low : high) = middle;
  }
  return sign | low;
}

ExactValue& ExactValue::operator+=(const ExactValue& other) {
  infinite = infinite || other.infinite;
  value += other.value;
  return *this;
}

ExactValue ExactValue::operator/(int64_t divisor) const {
  ExactValue result = *this;
  result.value /= mpq_class(std::to_string(divisor));
  return result;
}

std::vector<int> ExactMask(size_t classes, const std::vector<int64_t>& labels) {
  std::vector<int> mask(classes, 0);
  for (const int64_t label : labels) {
    if (label == -1) break;
    if (label >= 0 && static_cast<uint64_t>(label) < classes) mask[static_cast<size_t>(label)] = 1;
  }
  return mask;
}

ExactValue ExactRowSum(const std::vector<double>& scores, const std::vector<int64_t>& labels) {
  const std::vector<int> mask = ExactMask(scores.size(), labels);
  std::vector<mpz_class> units(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isfinite(scores[i])) units[i] = ToUnits(scores[i]);
  }
  const mpz_class one = mpz_class(1) << static_cast<unsigned>(-kUnitExponent);
  ExactValue result;
  mpz_class sum = 0, threshold, hinge;
  for (const int64_t entry : labels) {
    if (entry == -1) break;
    if (entry < 0 || static_cast<uint64_t>(entry) >= scores.size()) continue;
    const auto j = static_cast<size_t>(entry);
    threshold = one - units[j];
    for (size_t i = 0; i < scores.size(); ++i) {
      if (mask[i] != 0) continue;
      if (!std::isfinite(scores[j]) || !std::isfinite(scores[i])) {
        result.infinite = result.infinite || SpecialHingeIsInfinite(scores[j], scores[i]);
        continue;
      }
      hinge = threshold + units[i];
      if (sgn(hinge) > 0) sum += hinge;
    }
  }
  result.value = mpq_class(sum) * PowerOfTwo(kUnitExponent);
  return result;
}

double UlpError(const FloatFormat& format, const ExactValue& exact, uint32_t got) {
  constexpr double kHopeless = std::numeric_limits<double>::infinity();
  if (exact.value < 0) {
    return UlpError(format, {exact.infinite, -exact.value}, got ^ (1u << (format.bits - 1)));
  }
  if (exact.infinite) return got == format.infinity() ? 0 : kHopeless;
  if (got > format.infinity()) return kHopeless;
  if (exact.value >= PowerOfTwo(format.max_exponent + 1)) {
    return got == format.infinity() ? 0 : kHopeless;
  }
  const mpq_class value = got == format.infinity() ? PowerOfTwo(format.max_exponent + 1)
                                                   : mpq_class(Decode(format, got));
  const int exponent = exact.value == 0 ? format.min_exponent()
                                        : std::max(FloorLog2(exact.value), format.min_exponent());
  mpq_class difference = value - exact.value;
  if (difference < 0) difference = -difference;
  return mpq_class(difference / PowerOfTwo(exponent - format.mantissa_bits)).get_d();
}

}  // namespace mlmargin::testing
