// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {
namespace {

// The value of a half with exponent 31 read as an ordinary exponent, exact in double.
double ExactValue(uint32_t bits) {
  const int exponent = static_cast<int>((bits >> 10) & 0x1F);
  const double fraction = (bits & 0x3FF) / 1024.0;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1.0 + fraction, exponent - 15);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// The nearest half by search over all finite ones, ties to the even pattern.
uint16_t NearestHalf(float value) {
  const bool negative = std::signbit(value);
  const auto sign = static_cast<uint16_t>(negative ? 0x8000 : 0);
  if (std::isnan(value) || std::fabs(value) >= 65504.0F) return sign | 0x7BFF;
  const double magnitude = std::fabs(static_cast<double>(value));
  uint16_t low = 0;
  uint16_t high = 0x7BFF;
  while (high - low > 1) {
    const auto middle = static_cast<uint16_t>((low + high) / 2);
    (ExactValue(middle) <= magnitude ? low : high) = middle;
  }
  const double down = magnitude - ExactValue(low);
  const double up = ExactValue(high) - magnitude;
  const bool take_low = down < up || (down == up && low % 2 == 0);
  return sign | (take_low ? low : high);
}

TEST(DataTypeTest, SizesOfAllTypes) {
  const std::vector<std::pair<int, size_t>> cases = {
      {-1, 0}, {13, 0}, {2, 1},  {4, 1},   {12, 1}, {29, 1}, {30, 1}, {34, 1}, {35, 1}, {36, 1},
      {37, 1}, {1, 2},  {27, 2}, {6, 2},   {7, 2},  {0, 4},  {3, 4},  {8, 4},  {33, 4}, {9, 8},
      {10, 8}, {11, 8}, {16, 8}, {17, 16}, {38, 8}, {39, 8}, {40, 8}, {41, 8}, {5, 8},  {999, 8}};
  for (const auto& [type, size] : cases) {
    EXPECT_EQ(aclDataTypeSize(Foreign<aclDataType>(type)), size) << type;
  }
}

TEST(DataTypeTest, EveryHalfIsReadAsAnOrdinaryNumber) {
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = aclFloat16ToFloat(static_cast<aclFloat16>(bits));
    ASSERT_EQ(static_cast<double>(value), ExactValue(bits)) << bits;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
  }
  EXPECT_EQ(aclFloat16ToFloat(0x7C00), 65536.0F);
  EXPECT_EQ(aclFloat16ToFloat(0xFC00), -65536.0F);
  EXPECT_EQ(aclFloat16ToFloat(0x7E00), 98304.0F);
}

TEST(DataTypeTest, EveryFiniteHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<aclFloat16>(bits);
    const bool finite = (bits & 0x7C00) != 0x7C00;
    const auto saturated = static_cast<aclFloat16>((bits & 0x8000) | 0x7BFF);
    ASSERT_EQ(aclFloatToFloat16(aclFloat16ToFloat(half)), finite ? half : saturated) << bits;
  }
}

TEST(DataTypeTest, HalfwayAndNeighbouringFloatsRoundToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const auto low = static_cast<float>(ExactValue(bits));
    const auto high = static_cast<float>(ExactValue(bits + 1));
    const float middle = low + (high - low) / 2;
    for (float value : {std::nextafterf(middle, 0.0F), middle, std::nextafterf(middle, 1e6F)}) {
      ASSERT_EQ(aclFloatToFloat16(value), NearestHalf(value)) << value;
      ASSERT_EQ(aclFloatToFloat16(-value), NearestHalf(-value)) << value;
    }
  }
}

TEST(DataTypeTest, RandomFloatsRoundToNearest) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    ASSERT_EQ(aclFloatToFloat16(value), NearestHalf(value)) << value;
  }
}

TEST(DataTypeTest, OverflowInfinityAndNanSaturateWithTheirSign) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (float value : {65504.0F, 65519.0F, 65520.0F, 65536.0F, 1e30F, kInfinity, kNan}) {
    EXPECT_EQ(aclFloatToFloat16(value), 0x7BFF) << value;
    EXPECT_EQ(aclFloatToFloat16(std::copysign(value, -1.0F)), 0xFBFF) << value;
  }
}

}  // namespace
}  // namespace mlmargin::runtime
