// SPDX-License-Identifier: Apache-2.0
// Sizes of data types, and half precision as the real API converts it: without infinities and
// NaN. Pure functions, so they need no ApiCall.
#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/c_api.h"

namespace {

constexpr uint32_t kFloatSign = 0x8000'0000;
constexpr uint16_t kHalfMax = 0x7BFF;                    // 65504
constexpr uint32_t kHalfMaxAsFloat = 0x477F'E000;        // 65504
constexpr uint32_t kHalfMinNormalAsFloat = 0x3880'0000;  // 2^-14

// `value` / 2^shift, to nearest, ties to even; 0 < shift < 32.
uint32_t ShiftRounded(uint32_t value, int shift) {
  const uint32_t quotient = value >> shift;
  const uint32_t rest = value & ((1U << shift) - 1);
  const uint32_t half = 1U << (shift - 1);
  return quotient + (rest > half || (rest == half && (quotient & 1) != 0) ? 1 : 0);
}

// A magnitude below 2^-14, in units of 2^-24. May round up to 2^-14, the right bits as well.
uint32_t SubnormalBits(uint32_t magnitude) {
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < -25) return 0;  // Below half of the smallest half.
  const uint32_t significand = (magnitude & 0x007F'FFFF) | 0x0080'0000;
  return ShiftRounded(significand, -1 - exponent);
}

}  // namespace

size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_DT_UNDEFINED:
    case ACL_STRING:
      return 0;
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT4:
    case ACL_UINT1:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_COMPLEX128:
      return 16;
    default:  // The 64-bit types, and as the real API does, everything else.
      return 8;
  }
}

float aclFloat16ToFloat(aclFloat16 value) {
  const int exponent = (value >> 10) & 0x1F;
  const int fraction = value & 0x3FF;
  const int significand = exponent == 0 ? fraction : fraction | 0x400;
  const float magnitude =
      std::ldexp(static_cast<float>(significand), (exponent == 0 ? 1 : exponent) - 25);
  return (value & 0x8000) != 0 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits & kFloatSign) >> 16);
  const uint32_t magnitude = bits & ~kFloatSign;
  if (magnitude >= kHalfMaxAsFloat) return sign | kHalfMax;  // Infinities and NaN too.
  // Rebased exponents; rounding may carry into the exponent, up to the largest half.
  const uint32_t half = magnitude < kHalfMinNormalAsFloat
                            ? SubnormalBits(magnitude)
                            : ShiftRounded(magnitude - (112U << 23), 13);
  return static_cast<aclFloat16>(sign | (half < kHalfMax ? half : kHalfMax));
}
