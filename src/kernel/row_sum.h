// SPDX-License-Identifier: Apache-2.0
// Sums of hinges: of parts of rows, rows, batches. Two kinds with the same members: a double is
// exact enough for the float types, for double it takes two.
#ifndef MLMARGIN_KERNEL_ROW_SUM_H_
#define MLMARGIN_KERNEL_ROW_SUM_H_

#include <cmath>
#include <limits>

#include "kernel/double_double.h"

namespace mlmargin::kernel {

struct PlainSum {
  static constexpr int kDoubles = 1;  // That Save() writes.
  double value = 0;

  void operator+=(const PlainSum& other) { value += other.value; }
  double DividedBy(double divisor) const { return value / divisor; }
  void Save(double* to) const { *to = value; }
  static PlainSum Load(const double* from) { return {*from}; }
};

// A double-double, in units of 2^128 once it is so large that more of its kind might overflow: a
// mean can be finite where the sum is not.
struct WideSum {
  static constexpr int kDoubles = 2;
  static constexpr double kUnit = 0x1p128, kLarge = 0x1p900;
  DoubleDouble value;
  bool scaled = false;

  static WideSum Infinite() { return {{std::numeric_limits<double>::infinity(), 0}, true}; }

  // What a sum in plain units is.
  static WideSum Of(DoubleDouble sum) {
    WideSum result{sum, false};
    if (sum.high >= kLarge) result.Scale();
    return result;
  }

  void operator+=(WideSum other) {
    if (std::isinf(value.high) || std::isinf(other.value.high)) {
      *this = Infinite();
      return;
    }
    if (scaled != other.scaled) {
      Scale();
      other.Scale();
    }
    value += other.value;
    if (value.high >= kLarge) Scale();
  }

  double DividedBy(double divisor) const {
    const double quotient = value.DividedBy(divisor);
    return scaled ? quotient * kUnit : quotient;
  }

  // A scaled one is saved negative; no sum is.
  void Save(double* to) const {
    to[0] = scaled ? -value.high : value.high;
    to[1] = value.low;
  }
  static WideSum Load(const double* from) {
    const bool scaled = std::signbit(from[0]);
    return {{scaled ? -from[0] : from[0], from[1]}, scaled};
  }

  void Scale() {
    if (scaled) return;
    value.high /= kUnit;
    value.low /= kUnit;
    scaled = true;
  }
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_ROW_SUM_H_
