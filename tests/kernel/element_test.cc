// SPDX-License-Identifier: Apache-2.0
#include "kernel/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/exact_loss.h"

namespace mlmargin::kernel {
namespace {

using testing::Decode;
using testing::ExactValue;
using testing::FloatFormat;
using testing::kBFloat16;
using testing::kFloat16;
using testing::UlpError;

bool SameValue(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(ElementTest, EveryFloat16PatternHasItsValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    ASSERT_TRUE(SameValue(static_cast<double>(Float16ToFloat(static_cast<uint16_t>(bits))),
                          Decode(kFloat16, bits)))
        << std::hex << bits;
  }
}

TEST(ElementTest, EveryBFloat16PatternHasItsValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    ASSERT_TRUE(SameValue(static_cast<double>(BFloat16ToFloat(static_cast<uint16_t>(bits))),
                          Decode(kBFloat16, bits)))
        << std::hex << bits;
  }
}

uint16_t Round(ScoreType type, double value) {
  uint16_t bits = 0;
  StoreLoss(value, type, &bits);
  return bits;
}

// Walks all neighbours: the values, the midpoints between them and a little beside the midpoints.
void CheckRoundingEverywhere(ScoreType type, const FloatFormat& format) {
  for (uint32_t bits = 0; bits < format.infinity(); ++bits) {
    const double low = Decode(format, bits);
    const double high = bits + 1 == format.infinity() ? std::ldexp(1.0, format.max_exponent + 1)
                                                      : Decode(format, bits + 1);
    const double middle = low + (high - low) / 2;
    const uint32_t even = (bits & 1) == 0 ? bits : bits + 1;
    ASSERT_EQ(Round(type, low), bits);
    ASSERT_EQ(Round(type, middle), even) << "halfway above " << std::hex << bits;
    ASSERT_EQ(Round(type, std::nextafter(middle, low)), bits) << std::hex << bits;
    ASSERT_EQ(Round(type, std::nextafter(middle, high)), bits + 1) << std::hex << bits;
  }
}

TEST(ElementTest, RoundsToNearestEvenFloat16) {
  CheckRoundingEverywhere(ScoreType::kFloat16, kFloat16);
}

TEST(ElementTest, RoundsToNearestEvenBFloat16) {
  CheckRoundingEverywhere(ScoreType::kBFloat16, kBFloat16);
}

TEST(ElementTest, SpecialValuesRoundToThemselves) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [type, format] :
       {std::pair(ScoreType::kFloat16, kFloat16), std::pair(ScoreType::kBFloat16, kBFloat16)}) {
    EXPECT_EQ(Round(type, infinity), format.infinity());
    EXPECT_EQ(Round(type, 1e300), format.infinity());
    EXPECT_EQ(Round(type, std::numeric_limits<double>::quiet_NaN()), format.quiet_nan());
    EXPECT_EQ(Round(type, std::numeric_limits<double>::denorm_min()), 0);
    EXPECT_EQ(Round(type, 0.0), 0);
  }
}

TEST(ElementTest, MaskOneIsOne) {
  EXPECT_EQ(Decode(kFloat16, OneBits16(ScoreType::kFloat16)), 1.0);
  EXPECT_EQ(Decode(kBFloat16, OneBits16(ScoreType::kBFloat16)), 1.0);
}

}  // namespace
}  // namespace mlmargin::kernel
