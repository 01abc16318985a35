// SPDX-License-Identifier: Apache-2.0
#include "kernel/element.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

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

// A float is rounded once, to nearest even, its sign kept. Tried are all values of the type, their
// midpoints and the floats beside those, and any other floats.
void ExpectRounded(ScoreType type, float value) {
  const double magnitude = std::fabs(static_cast<double>(value));
  uint16_t expected = Round(type, magnitude);
  if (std::signbit(value)) expected |= 0x8000u;
  uint16_t got = 0;
  StoreGradient(value, type, &got);
  if (std::isnan(value)) {
    EXPECT_TRUE(std::isnan(Decode(type == ScoreType::kFloat16 ? kFloat16 : kBFloat16, got)));
  } else {
    ASSERT_EQ(got, expected) << value;
  }
}

TEST(ElementTest, GradientsAreRoundedToNearestEven) {
  for (const auto& [type, format] :
       {std::pair{ScoreType::kFloat16, kFloat16}, std::pair{ScoreType::kBFloat16, kBFloat16}}) {
    for (uint32_t bits = 0; bits <= format.infinity(); ++bits) {
      const auto value = static_cast<float>(Decode(format, bits));
      const auto next = static_cast<float>(Decode(format, bits + 1));
      const float middle = value + (next - value) / 2;
      for (const float near : {value, middle, std::nextafter(middle, 0.0f),
                               std::nextafter(middle, std::numeric_limits<float>::infinity())}) {
        ExpectRounded(type, near);
        ExpectRounded(type, -near);
      }
    }
    std::mt19937 random(3);
    for (int turn = 0; turn < 100'000; ++turn) {
      ExpectRounded(type, std::bit_cast<float>(static_cast<uint32_t>(random())));
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace mlmargin::kernel
