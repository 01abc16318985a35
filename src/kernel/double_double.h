// SPDX-License-Identifier: Apache-2.0
// Numbers of two doubles, the second within half a unit in the last place of the first: about 106
// bits. Sums and products of Dekker and Knuth (T. J. Dekker, A floating-point technique for
// extending the available precision, 1971; D. E. Knuth, The Art of Computer Programming, vol. 2).
#ifndef MLMARGIN_KERNEL_DOUBLE_DOUBLE_H_
#define MLMARGIN_KERNEL_DOUBLE_DOUBLE_H_

#include <cmath>

namespace mlmargin::kernel {

struct DoubleDouble {
  double high = 0;
  double low = 0;

  // a + b without any error.
  static DoubleDouble Sum(double a, double b) {
    const double sum = a + b;
    const double b_part = sum - a;
    return {sum, (a - (sum - b_part)) + (b - b_part)};
  }

  // a * b, without any error unless it is next to the ends of the range.
  static DoubleDouble Product(double a, double b) {
    const double product = a * b;
    return {product, std::fma(a, b, -product)};
  }

  // Relative error at most 2^-103 for numbers of one sign.
  void operator+=(const DoubleDouble& other) {
    const DoubleDouble sum = Sum(high, other.high);
    *this = Normal(sum.high, sum.low + (low + other.low));
  }

  DoubleDouble Times(double factor) const {
    const DoubleDouble product = Product(high, factor);
    return Normal(product.high, product.low + low * factor);
  }

  // The same number in a unit that is a power of two.
  DoubleDouble In(double unit) const { return {high * unit, low * unit}; }

  // The quotient as a double, within a hair of half a unit in the last place.
  double DividedBy(double divisor) const {
    const double quotient = high / divisor;
    if (!std::isfinite(quotient)) return quotient;
    const double rest = std::fma(-quotient, divisor, high) + low;
    return quotient + rest / divisor;
  }

 private:
  // `low` is not larger than `high`.
  static DoubleDouble Normal(double high, double low) {
    const double sum = high + low;
    return {sum, low - (sum - high)};
  }
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_DOUBLE_DOUBLE_H_
