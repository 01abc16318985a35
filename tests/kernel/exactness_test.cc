// SPDX-License-Identifier: Apache-2.0
// The kernel against exact arithmetic. The grid over every dtype, shape and view is in
// tests/opapi; here are the row shapes around the vector and block sizes on every target.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "kernel_run.h"

namespace mlmargin::testing {
namespace {

constexpr FloatFormat kFormats[] = {kFloat32, kFloat16, kBFloat16};
constexpr Reduction kReductions[] = {Reduction::kNone, Reduction::kMean, Reduction::kSum};

void ExpectExact(const Batch& batch, const Expected& expected, const KernelResult& result,
                 int64_t reduction) {
  const std::vector<ExactValue> losses = expected.Losses(reduction);
  ASSERT_EQ(result.losses.size(), losses.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    EXPECT_LE(UlpError(batch.format, losses[i], result.losses[i]), 1.0)
        << batch.Name() << " reduction " << reduction << " loss " << i << " is "
        << Decode(batch.format, result.losses[i]) << ", exactly " << losses[i].value.get_d();
  }
  for (size_t i = 0; i < result.mask.size(); ++i) {
    ASSERT_EQ(result.mask[i], expected.mask()[i] == 1 ? batch.format.one() : 0u)
        << batch.Name() << " element " << i;
  }
}

class ExactnessTest : public ::testing::Test {
 protected:
  ~ExactnessTest() override {
    EXPECT_TRUE(SetTarget("").ok());
    UseAnyKernel();
  }
};

void ExpectExactForEveryKernelAndTarget(const Batch& batch) {
  const Expected expected(batch);
  for (const KernelChoice& choice : kKernelChoices) {
    choice.Use();
    for (const std::string& target : SupportedTargets()) {
      ASSERT_TRUE(SetTarget(target).ok());
      for (const Reduction reduction : kReductions) {
        SCOPED_TRACE(std::string(choice.name) + " on " + target);
        ExpectExact(batch, expected, RunKernel(batch, reduction), static_cast<int64_t>(reduction));
      }
    }
  }
}

TEST_F(ExactnessTest, WithinOneUlpAroundVectorAndBlockSizes) {
  uint64_t seed = 0;
  for (const FloatFormat& format : kFormats) {
    for (const int64_t classes :
         {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 101, 127, 2047, 2048, 2049, 4097}) {
      for (const Spread spread : kAllSpreads) {
        ExpectExactForEveryKernelAndTarget(
            MakeBatch(format, 2, classes, Density::kFew, spread, ++seed));
      }
    }
  }
}

TEST_F(ExactnessTest, WithinOneUlpForManyLabels) {
  uint64_t seed = 1000;
  for (const FloatFormat& format : kFormats) {
    for (const int64_t classes : {66, 150, 700, 2500}) {
      for (const Density density : {Density::kHalf, Density::kAll}) {
        for (const Spread spread : kAllSpreads) {
          ExpectExactForEveryKernelAndTarget(
              MakeBatch(format, 2, classes, density, spread, ++seed));
        }
      }
    }
  }
}

// Rows of equal scores, where every rounding is the same and none makes up for another.
TEST_F(ExactnessTest, WithinOneUlpForEqualScores) {
  std::mt19937 random(77);
  std::uniform_real_distribution<double> uniform(-2, 2);
  for (int turn = 0; turn < 100; ++turn) {
    Batch batch{kFloat32, 1, 700, {}, std::vector<int64_t>(700, -1)};
    const uint32_t others = EncodeNear(kFloat32, uniform(random));
    const uint32_t labels = EncodeNear(kFloat32, uniform(random));
    batch.scores.assign(700, others);
    for (size_t l = 0; l < (turn % 2 == 0 ? 5 : 100); ++l) {
      batch.labels[l] = static_cast<int64_t>(l * 7);
      batch.scores[l * 7] = labels;
    }
    ExpectExactForEveryKernelAndTarget(batch);
  }
}

// One threshold far below the others, just below which all scores lie: the counts' products are
// many times the sum.
TEST_F(ExactnessTest, WithinOneUlpWhereProductsExceedTheSum) {
  for (const float gap : {1.0f, 1e3f, 1e7f}) {
    Batch batch{kFloat32, 1, 600, {}, std::vector<int64_t>(600, -1)};
    for (size_t i = 0; i < 600; ++i) {
      const float score = i < 100 ? 1.0f : std::nextafter(0.0f, 1.0f) * static_cast<float>(i);
      batch.scores.push_back(std::bit_cast<uint32_t>(i == 0 ? -gap : score));
      if (i < 100) batch.labels[i] = static_cast<int64_t>(i);
    }
    ExpectExactForEveryKernelAndTarget(batch);
  }
}

// Any finite bits at all, in short rows where no large sum hides an error.
RC_GTEST_FIXTURE_PROP(ExactnessTest, AnyFiniteScoresAreWithinOneUlp, ()) {
  const FloatFormat format = kFormats[*rc::gen::inRange(0, 3)];
  const auto classes = *rc::gen::inRange<int64_t>(1, 12);
  Batch batch{format, 1, classes, {}, {}};
  const auto score = rc::gen::map(
      rc::gen::pair(rc::gen::inRange(0u, format.infinity()), rc::gen::arbitrary<bool>()),
      [&](const std::pair<uint32_t, bool>& p) {
        return p.first | (p.second ? 1u << (format.bits - 1) : 0u);
      });
  batch.scores = *rc::gen::container<std::vector<uint32_t>>(static_cast<size_t>(classes), score);
  batch.labels = *rc::gen::container<std::vector<int64_t>>(static_cast<size_t>(classes),
                                                           rc::gen::inRange<int64_t>(-1, classes));
  const Expected expected(batch);
  for (const KernelChoice& choice : kKernelChoices) {
    choice.Use();
    const KernelResult result = RunKernel(batch, Reduction::kNone);
    RC_ASSERT(UlpError(format, expected.Losses(0)[0], result.losses[0]) <= 1.0);
  }
}

float LossOf(const std::vector<float>& scores, const std::vector<int64_t>& labels) {
  Batch batch{kFloat32, 1, static_cast<int64_t>(scores.size()), {}, labels};
  for (const float score : scores) batch.scores.push_back(std::bit_cast<uint32_t>(score));
  batch.labels.resize(scores.size(), -1);
  return std::bit_cast<float>(RunKernel(batch, Reduction::kNone).losses[0]);
}

class SpecialValuesTest : public ExactnessTest, public ::testing::WithParamInterface<KernelChoice> {
 protected:
  SpecialValuesTest() { GetParam().Use(); }
};

INSTANTIATE_TEST_SUITE_P(RowKernels, SpecialValuesTest, ::testing::ValuesIn(kKernelChoices),
                         [](const auto& test) { return test.param.name; });

TEST_P(SpecialValuesTest, HingesFarBelowTheScoresSurvive) {
  EXPECT_EQ(LossOf({-1e-30f, -1.0f}, {0}), 5e-31f);
  EXPECT_EQ(LossOf({-1e-40f, -1.0f}, {0}), 1e-40f / 2);
  EXPECT_EQ(LossOf({16777218.0f, 16777218.0f}, {0}), 0.5f);
}

// Its threshold has no float below it but -inf. Others mask scores with it, and then all scores may
// be the lowest, or a label without a hinge stand beside it.
TEST_F(ExactnessTest, LabelsOfTheLowestFiniteScoreHaveFiniteLosses) {
  for (const FloatFormat& format : kFormats) {
    const uint32_t lowest = (1u << (format.bits - 1)) | (format.infinity() - 1);
    for (const size_t classes : {2u, 3u, 5u, 16u, 17u, 100u, 129u, 257u, 2049u}) {
      for (const size_t labels : {size_t{1}, classes / 2}) {
        for (const uint32_t others : {0u, lowest, format.quiet_nan(), format.infinity()}) {
          Batch batch{format, 1, static_cast<int64_t>(classes), {}, {}};
          batch.scores.assign(classes, others == lowest ? lowest : 0);
          batch.labels.assign(classes, -1);
          for (size_t l = 0; l < labels; ++l) {
            batch.labels[l] = static_cast<int64_t>(l);
            batch.scores[l] = lowest;
          }
          if (labels > 1) batch.scores[labels - 1] = others;
          ExpectExactForEveryKernelAndTarget(batch);
        }
      }
    }
  }
}

// So many that the tree of their thresholds has five levels.
TEST_F(ExactnessTest, SeventyThousandLabelsAreWithinOneUlp) {
  constexpr size_t kLabels = 70'000, kOthers = 5;
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Batch batch{kFloat32, 1, kLabels + kOthers, {}, std::vector<int64_t>(kLabels + kOthers, -1)};
  for (size_t i = 0; i < kLabels + kOthers; ++i) {
    batch.scores.push_back(EncodeNear(kFloat32, normal(random)));
    if (i < kLabels) batch.labels[i] = static_cast<int64_t>(i);
  }
  const Expected expected(batch);
  for (const std::string& target : SupportedTargets()) {
    ASSERT_TRUE(SetTarget(target).ok());
    ExpectExact(batch, expected, RunKernel(batch, Reduction::kNone), 0);
  }
}

TEST_P(SpecialValuesTest, InfinitiesAndNaNFollowIeee) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(LossOf({-inf, 3.0f}, {0}), inf);
  EXPECT_EQ(LossOf({-inf, -inf}, {0}), 0.0f);
  EXPECT_EQ(LossOf({inf, 3.0f}, {0}), 0.0f);
  EXPECT_EQ(LossOf({inf, inf}, {0}), 0.0f);
  EXPECT_EQ(LossOf({1.0f, inf}, {0}), inf);
  EXPECT_EQ(LossOf({nan, 3.0f}, {0}), 0.0f);
  EXPECT_EQ(LossOf({0.5f, nan, 1.0f}, {0}), 0.5f);
  EXPECT_EQ(LossOf({inf, nan, 0.5f, 0.5f}, {0, 1, 2}), 0.25f);
  EXPECT_EQ(LossOf({-inf, nan}, {0}), 0.0f);
}

TEST_P(SpecialValuesTest, SpecialValuesOfHalfTypesOnEveryTarget) {
  for (const std::string& target : SupportedTargets()) {
    ASSERT_TRUE(SetTarget(target).ok());
    for (const FloatFormat& format : {kFloat16, kBFloat16}) {
      const uint32_t negative_infinity = format.infinity() | 1u << (format.bits - 1);
      // More than a vector long, so that the vector path meets the special values too.
      Batch batch{format, 1, 33, std::vector<uint32_t>(33, format.quiet_nan()), {0, -1}};
      batch.labels.resize(33, 0);
      batch.scores[0] = format.one();
      batch.scores[9] = format.infinity();
      EXPECT_EQ(RunKernel(batch, Reduction::kSum).losses[0], format.infinity()) << target;
      batch.scores[9] = negative_infinity;
      EXPECT_EQ(RunKernel(batch, Reduction::kSum).losses[0], 0u) << target;
      batch.scores[0] = negative_infinity;
      EXPECT_EQ(RunKernel(batch, Reduction::kSum).losses[0], 0u) << target;
      batch.scores[9] = format.one();
      EXPECT_EQ(RunKernel(batch, Reduction::kSum).losses[0], format.infinity()) << target;
    }
  }
}

// Each of the 65,536 patterns as a non-label's score against labels of scores 0 and -inf.
TEST_P(SpecialValuesTest, EveryHalfPatternIsReadRightOnEveryTarget) {
  for (const FloatFormat& format : {kFloat16, kBFloat16}) {
    Batch batch{format, 65536 / 16, 17, {}, {}};
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      if (bits % 16 == 0) {
        batch.scores.push_back(0);
        batch.labels.insert(batch.labels.end(), {0, -1});
        batch.labels.resize(batch.labels.size() + 15, 5);
      }
      batch.scores.push_back(bits);
    }
    const std::vector<ExactValue> exact = Expected(batch).Losses(0);
    for (const std::string& target : SupportedTargets()) {
      ASSERT_TRUE(SetTarget(target).ok());
      const KernelResult result = RunKernel(batch, Reduction::kNone);
      for (size_t n = 0; n < exact.size(); ++n) {
        ASSERT_LE(UlpError(format, exact[n], result.losses[n]), 1.0) << target << " row " << n;
      }
    }
  }
}

TEST_P(SpecialValuesTest, OverflowOfTheOutputTypeIsInfinite) {
  Batch batch{kFloat16, 1, 2, {EncodeNear(kFloat16, -65504), EncodeNear(kFloat16, 65504)}, {0, -1}};
  // Exactly 131,009 / 2 = 65,504.5, which rounds to the largest finite value.
  EXPECT_EQ(RunKernel(batch, Reduction::kNone).losses[0], kFloat16.infinity() - 1);
  batch = {kFloat16,
           2,
           2,
           {batch.scores[0], batch.scores[1], batch.scores[0], batch.scores[1]},
           {0, -1, 0, -1}};
  EXPECT_EQ(RunKernel(batch, Reduction::kSum).losses[0], kFloat16.infinity());
}

TEST_F(ExactnessTest, NoRowsGiveNothingZeroOrNaN) {
  const Batch batch{kFloat32, 0, 3, {}, {}};
  EXPECT_TRUE(RunKernel(batch, Reduction::kNone).losses.empty());
  EXPECT_EQ(RunKernel(batch, Reduction::kSum).losses[0], 0u);
  EXPECT_EQ(RunKernel(batch, Reduction::kMean).losses[0], kFloat32.quiet_nan());
}

TEST_F(ExactnessTest, WrongArgumentsAreNamed) {
  float value = 0;
  int64_t label = -1;
  LossArguments arguments;
  const auto message = [&] {
    const Status status = MultilabelMarginLoss(arguments, nullptr);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  arguments.rows = -1;
  EXPECT_EQ(message(), "rows must be >= 0, got -1");
  arguments.rows = 1;
  EXPECT_EQ(message(), "classes must be >= 1, got 0");
  arguments.classes = 1;
  arguments.label_columns = -2;
  EXPECT_EQ(message(), "label_columns must be >= 0, got -2");
  arguments.label_columns = 1;
  EXPECT_EQ(message(), "loss or grad_scores must be a pointer to data, got null for both");
  arguments.loss = &value;
  EXPECT_EQ(message(), "scores must be a pointer to data, got null");
  arguments.scores.data = &value;
  EXPECT_EQ(message(), "labels must be a pointer to data, got null");
  arguments.labels.data = &label;
  arguments.max_threads = -3;
  EXPECT_EQ(message(), "max_threads must be >= 0, got -3");
  arguments.max_threads = 0;
  arguments.score_type = static_cast<ScoreType>(9);
  EXPECT_EQ(message(), "score_type must be a ScoreType, got 9");
  arguments.score_type = ScoreType::kFloat32;
  arguments.label_type = static_cast<LabelType>(2);
  EXPECT_EQ(message(), "label_type must be a LabelType, got 2");
  arguments.label_type = LabelType::kInt64;
  arguments.offset_type = static_cast<LabelType>(7);
  EXPECT_EQ(message(), "offset_type must be a LabelType, got 7");
  arguments.offset_type = LabelType::kInt64;
  arguments.reduction = static_cast<Reduction>(3);
  EXPECT_EQ(message(), "reduction must be a Reduction, got 3");
}

}  // namespace
}  // namespace mlmargin::testing
