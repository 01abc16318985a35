// SPDX-License-Identifier: Apache-2.0
// Inputs that people stumbled over in other implementations of this loss, with the right values.
// Each name says what goes wrong elsewhere; the reports are public.
#include <gtest/gtest.h>

#include <bit>

#include "opapi/loss_run.h"

namespace mlmargin::testing {
namespace {

class KnownCasesTest : public ::testing::Test {
 protected:
  AclSession session_;
};

struct Values {
  std::vector<float> losses;
  std::vector<float> mask;
};

Batch Float32Batch(int64_t rows, const std::vector<float>& scores,
                   const std::vector<int64_t>& labels) {
  Batch batch{kFloat32, rows, static_cast<int64_t>(scores.size()) / rows, {}, labels};
  for (const float score : scores) batch.scores.push_back(std::bit_cast<uint32_t>(score));
  return batch;
}

Values Compute(int64_t rows, const std::vector<float>& scores, const std::vector<int64_t>& labels,
               int64_t reduction, aclDataType target_type = ACL_INT64, int rank = 2) {
  CallShape shape;
  shape.rank = rank;
  shape.reduction = reduction;
  shape.target_type = target_type;
  const LossResult result = RunLoss(Float32Batch(rows, scores, labels), shape);
  Values values;
  for (const uint32_t bits : result.losses) values.losses.push_back(std::bit_cast<float>(bits));
  for (const uint32_t bits : result.mask) values.mask.push_back(std::bit_cast<float>(bits));
  return values;
}

using Floats = std::vector<float>;

TEST_F(KnownCasesTest, PaddingIsNoLabel) {
  const Values values = Compute(1, {0.75f, -0.5f, 0.25f, 0, -1}, {1, 3, -1, -1, -1}, 1);
  EXPECT_EQ(values.losses, Floats({1.5f}));
  EXPECT_EQ(values.mask, Floats({0, 1, 0, 1, 0}));
}

TEST_F(KnownCasesTest, ZeroIsAClassAndNoPadding) {
  EXPECT_EQ(Compute(1, {2, -1, 0.5f, 0}, {1, -1, -1, -1}, 0).losses, Floats({2.125f}));
  EXPECT_EQ(Compute(1, {2, -1, 0.5f, 0}, {1, 0, 0, 0}, 0).losses, Floats({1.125f}));
}

TEST_F(KnownCasesTest, TheHingeHasTheDifferenceOfTheScores) {
  EXPECT_EQ(Compute(1, {0.5f, -0.25f, 1, 0}, {2, -1, -1, -1}, 0).losses, Floats({0.125f}));
}

TEST_F(KnownCasesTest, ARepeatedLabelCountsTwiceAndMasksOnce) {
  const Values values = Compute(1, {0.5f, -0.25f, 1, 0}, {2, 2, -1, -1}, 0);
  EXPECT_EQ(values.losses, Floats({0.25f}));
  EXPECT_EQ(values.mask, Floats({0, 0, 1, 0}));
}

TEST_F(KnownCasesTest, ARowMayBeginWithMinusOne) {
  const Values values = Compute(1, {3, -2, 7}, {-1, 0, 2}, 0);
  EXPECT_EQ(values.losses, Floats({0}));
  EXPECT_EQ(values.mask, Floats({0, 0, 0}));
}

TEST_F(KnownCasesTest, NoNegativeClassIsNoDivisionByZero) {
  const Values values = Compute(1, {5, 1, 2}, {2, 0, 1}, 0);
  EXPECT_EQ(values.losses, Floats({0}));
  EXPECT_EQ(values.mask, Floats({1, 1, 1}));
  const Values single = Compute(2, {0.3f, 0.3f}, {0, -1}, 0);
  EXPECT_EQ(single.losses, Floats({0, 0}));
  EXPECT_EQ(single.mask, Floats({1, 0}));
}

TEST_F(KnownCasesTest, Int32AndInt64TargetsAgreeOverDirtyMemory) {
  for (const aclDataType type : {ACL_INT32, ACL_INT64}) {
    const Values values = Compute(2, {0.1f, 0.2f, 0.4f, 0.8f, 0.2f, 0.3f, 0.5f, 0.7f},
                                  {1, 2, 0, 3, 2, 3, -1, 1}, 1, type);
    EXPECT_FLOAT_EQ(values.losses[0], 0.325f);
    EXPECT_EQ(values.mask, Floats({1, 1, 1, 1, 0, 0, 1, 1}));
  }
}

TEST_F(KnownCasesTest, AnUnbatchedRowHasOneLoss) {
  for (const int64_t reduction : {0, 1, 2}) {
    EXPECT_EQ(Compute(1, {0.25f, 0.5f, -0.5f}, {1, -1, -1}, reduction, ACL_INT64, 1).losses,
              Floats({0.25f}));
  }
}

TEST_F(KnownCasesTest, TheVendorsSampleWithLabelsOutOfRangeRuns) {
  const Values values = Compute(2, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, 0, ACL_INT32);
  EXPECT_EQ(values.losses, Floats({0, 0}));
  EXPECT_EQ(values.mask, Floats({1, 1, 1, 0, 0, 0}));
}

TEST_F(KnownCasesTest, SumsOfHalfTypesDoNotStick) {
  struct Case {
    FloatFormat format;
    double mean, sum;
  };
  for (const Case& c :
       {Case{kBFloat16, 0.05078125, 50.75}, Case{kFloat16, 0.050048828125, 50.0625}}) {
    // -0.9 rounded to nearest in both types.
    const uint32_t score = c.format.mantissa_bits == 10 ? 0xBB33 : 0xBF66;
    Batch batch{c.format, 1000, 2, {}, {}};
    for (int n = 0; n < 1000; ++n) {
      batch.scores.insert(batch.scores.end(), {0, score});
      batch.labels.insert(batch.labels.end(), {0, -1});
    }
    CallShape shape;
    shape.reduction = 1;
    EXPECT_EQ(Decode(c.format, RunLoss(batch, shape).losses[0]), c.mean) << c.format.name;
    shape.reduction = 2;
    EXPECT_EQ(Decode(c.format, RunLoss(batch, shape).losses[0]), c.sum) << c.format.name;
  }
}

TEST_F(KnownCasesTest, LargeCloseScoresDoNotCancel) {
  EXPECT_EQ(Compute(1, {16777218, 16777218}, {0, -1}, 0).losses, Floats({0.5f}));
}

TEST_F(KnownCasesTest, LabelOrderDoesNotMatter) {
  const Floats scores = {0.1f, 0.2f, 0.4f, 0.8f, -0.3f};
  const Values one = Compute(1, scores, {4, 0, 2, -1, -1}, 0);
  const Values other = Compute(1, scores, {2, 4, 0, -1, -1}, 0);
  EXPECT_FLOAT_EQ(one.losses[0], 1.72f);
  EXPECT_FLOAT_EQ(other.losses[0], one.losses[0]);
  EXPECT_EQ(other.mask, one.mask);
}

TEST_F(KnownCasesTest, HalfOfTwentyThousandClassesAreLabelsAndItFinishes) {
  const Batch batch = MakeBatch(kFloat32, 1, 20'000, Density::kHalf, Spread::kOrdinary, 69);
  const LossResult result = RunLoss(batch, CallShape());
  EXPECT_GT(std::bit_cast<float>(result.losses[0]), 1000.0f);
}

}  // namespace
}  // namespace mlmargin::testing
