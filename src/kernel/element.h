// SPDX-License-Identifier: Apache-2.0
// Single elements of the score types: reading them as float, rounding a double to them.
#ifndef MLMARGIN_KERNEL_ELEMENT_H_
#define MLMARGIN_KERNEL_ELEMENT_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::kernel {

inline int64_t ScoreBytes(ScoreType type) {
  if (type == ScoreType::kFloat64) return 8;
  return type == ScoreType::kFloat32 ? 4 : 2;
}
inline int64_t LabelBytes(LabelType type) { return type == LabelType::kInt32 ? 4 : 8; }

inline const void* Offset(const void* base, int64_t bytes) {
  return static_cast<const char*>(base) + bytes;
}
inline void* Offset(void* base, int64_t bytes) { return static_cast<char*>(base) + bytes; }

// Data may be as little aligned as the caller left it.
template <typename T>
T LoadUnaligned(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <typename T>
void StoreUnaligned(T value, void* to) {
  std::memcpy(to, &value, sizeof(T));
}

// Exact: every value of binary16 is one of binary32.
inline float Float16ToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7FFFu) << 13;
  if ((bits & 0x7C00u) == 0x7C00u) return std::bit_cast<float>(sign | 0x7F800000u | magnitude);
  // The shifted bits are the value over 2^112; the product is exact, for subnormals too.
  return std::bit_cast<float>(sign |
                              std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f));
}

inline float BFloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Not of kFloat64.
inline float LoadScore(ScoreType type, const void* from) {
  if (type == ScoreType::kFloat32) return LoadUnaligned<float>(from);
  const auto bits = LoadUnaligned<uint16_t>(from);
  return type == ScoreType::kFloat16 ? Float16ToFloat(bits) : BFloat16ToFloat(bits);
}

// Rounds `value` (not negative, or NaN) to a 16-bit float with `kMantissaBits` stored mantissa
// bits and least normal exponent `kMinExponent`, once, to nearest even.
template <int kMantissaBits, int kMinExponent>
uint16_t RoundToBits16(double value) {
  constexpr unsigned kInfinity = 0x7FFFu & ~((1u << kMantissaBits) - 1);
  if (std::isnan(value)) return static_cast<uint16_t>(kInfinity | (1u << (kMantissaBits - 1)));
  if (value == 0) return 0;
  if (std::isinf(value)) return static_cast<uint16_t>(kInfinity);
  // Everything at and above 2^-kMinExponent has overflowed: bound it before the shift below.
  const int exponent = std::max(std::ilogb(value), kMinExponent);
  if (exponent > -kMinExponent + 1) return static_cast<uint16_t>(kInfinity);
  // In units of the last place the mantissa is an integer; rounding up a full one carries into the
  // exponent field, as it should.
  const double units = std::nearbyint(std::ldexp(value, kMantissaBits - exponent));
  const auto bits = (static_cast<unsigned>(exponent - kMinExponent) << kMantissaBits) +
                    static_cast<unsigned>(units);
  return static_cast<uint16_t>(std::min(bits, kInfinity));
}

inline double LoadScoreAsDouble(ScoreType type, const void* from) {
  if (type == ScoreType::kFloat64) return LoadUnaligned<double>(from);
  return static_cast<double>(LoadScore(type, from));
}

// Rounds `value` (not negative, or NaN) to nearest even and stores it.
inline void StoreLoss(double value, ScoreType type, void* to) {
  switch (type) {
    case ScoreType::kFloat64:
      return StoreUnaligned(value, to);
    case ScoreType::kFloat32:
      return StoreUnaligned(static_cast<float>(value), to);
    case ScoreType::kFloat16:
      return StoreUnaligned(RoundToBits16<10, -14>(value), to);
    case ScoreType::kBFloat16:
      return StoreUnaligned(RoundToBits16<7, -126>(value), to);
  }
}

// To nearest even; any float. The vectors' StoreFloats does the same.
inline uint16_t FloatToBFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

inline uint16_t FloatToFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  constexpr uint32_t kInfinity = 0x7F800000u, kTooLarge = (127u + 16) << 23;
  constexpr uint32_t kLeastNormal = (127u - 14) << 23;
  uint32_t half = 0;
  if (magnitude >= kTooLarge) {
    half = magnitude > kInfinity ? 0x7E00u : 0x7C00u;
  } else if (magnitude >= kLeastNormal) {
    // The exponent's bias becomes 15; a carry out of the mantissa goes where it should.
    half = (magnitude - (112u << 23) + 0xFFFu + (magnitude >> 13 & 1u)) >> 13;
  } else {
    // Beside 0.5 the last place of a float is that of a subnormal.
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - (126u << 23);
  }
  return static_cast<uint16_t>(sign | half);
}

// Stores an element of a gradient of a type but kFloat64.
inline void StoreGradient(float value, ScoreType type, void* to) {
  if (type == ScoreType::kFloat32) return StoreUnaligned(value, to);
  StoreUnaligned(type == ScoreType::kFloat16 ? FloatToFloat16(value) : FloatToBFloat16(value), to);
}

// The bits of 1.0, for the mask.
inline uint16_t OneBits16(ScoreType type) {
  return type == ScoreType::kFloat16 ? uint16_t{0x3C00} : uint16_t{0x3F80};
}

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_ELEMENT_H_
