// SPDX-License-Identifier: Apache-2.0
#include "score_value.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace mlmargin::tools {
namespace {

float HalfToFloat(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return sign * (mantissa == 0 ? INFINITY : NAN);
  const int digits = exponent == 0 ? mantissa : mantissa + 1024;
  return sign * std::ldexp(static_cast<float>(digits), std::max(exponent, 1) - 25);
}

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

double ScoreValue(ScoreType type, const std::byte* from) {
  switch (type) {
    case ScoreType::kFloat64:
      return Load<double>(from);
    case ScoreType::kFloat16:
      return static_cast<double>(HalfToFloat(Load<uint16_t>(from)));
    case ScoreType::kBFloat16: {
      const uint32_t bits = uint32_t{Load<uint16_t>(from)} << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return static_cast<double>(value);
    }
    case ScoreType::kFloat32:
      break;
  }
  return static_cast<double>(Load<float>(from));
}

}  // namespace mlmargin::tools
