// SPDX-License-Identifier: Apache-2.0
#include "kernel/threshold.h"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace mlmargin::kernel {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> Scores() {
  std::vector<float> scores = {0.0f,    -0.0f,  1.0f,    -1.0f, 0.5f,   2.0f,       1e-30f,
                               -1e-30f, 1e-45f, -1e-45f, 1e30f, -1e30f, 16777217.f, -16777216.f};
  for (const float near : {0.0f, 0.5f, 1.0f, 2.0f, 0x1p24f, std::numeric_limits<float>::max()}) {
    for (const float to : {-kInfinity, kInfinity}) {
      scores.push_back(std::nextafter(near, to));
      scores.push_back(-std::nextafter(near, to));
    }
  }
  std::mt19937 random(5);
  for (int i = 0; i < 200'000; ++i) {
    const float any = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(any)) scores.push_back(any);
    scores.push_back(static_cast<float>(random()) * 0x1p-30f - 2.0f);
  }
  std::erase_if(scores, [](float score) { return std::isinf(score); });
  return scores;
}

TEST(ThresholdTest, FloorThresholdIsTheLargestFloatNotAboveTheScoreLessOne) {
  for (const float score : Scores()) {
    const mpq_class exact = mpq_class(score) - 1;
    const float floor = FloorThreshold(score);
    ASSERT_LE(mpq_class(floor), exact) << score;
    const float next = std::nextafter(floor, kInfinity);
    ASSERT_TRUE(std::isinf(next) || mpq_class(next) > exact) << score;
  }
  EXPECT_EQ(FloorThreshold(-kInfinity), -kInfinity);
  EXPECT_EQ(FloorThreshold(kInfinity), kInfinity);
}

TEST(ThresholdTest, FloorThresholdNeverFalls) {
  std::vector<float> scores = Scores();
  std::sort(scores.begin(), scores.end());
  for (size_t i = 1; i < scores.size(); ++i) {
    ASSERT_LE(FloorThreshold(scores[i - 1]), FloorThreshold(scores[i]));
  }
}

TEST(ThresholdTest, NegatedThresholdHasNoError) {
  for (const float score : Scores()) {
    const NegatedThreshold negated(score);
    ASSERT_EQ(mpq_class(negated.high) + mpq_class(negated.low), 1 - mpq_class(score)) << score;
    ASSERT_EQ(negated.high, 1.0 - static_cast<double>(score));
  }
}

TEST(ThresholdTest, MayHaveLowIsTrueWhereThereIsOneAndFalseForOrdinaryScores) {
  for (const float score : Scores()) {
    ASSERT_TRUE(MayHaveLow(score) || NegatedThreshold(score).low == 0) << score;
    const float size = std::abs(score);
    ASSERT_FALSE(MayHaveLow(score) && (size == 0 || (size > 1e-8f && size < 1e15f))) << score;
  }
}

}  // namespace
}  // namespace mlmargin::kernel
