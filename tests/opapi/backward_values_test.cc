// SPDX-License-Identifier: Apache-2.0
// The gradient's values against exact counts: dtypes x reductions x ranks x class counts x label
// densities x spreads x target types.
#include <gtest/gtest.h>

#include "opapi/gradient_run.h"

namespace mlmargin::testing {
namespace {

constexpr int64_t kClassCounts[] = {1,  2,  3,  4,  7,  8,   15,  16,  17,
                                    33, 63, 64, 65, 66, 128, 129, 257, 1000};

class BackwardValuesTest : public ::testing::TestWithParam<FloatFormat> {
 protected:
  AclSession session_;
};

std::string NameOf(const ::testing::TestParamInfo<FloatFormat>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Types, BackwardValuesTest,
                         ::testing::Values(kFloat32, kFloat16, kBFloat16), NameOf);

void CheckBatch(const Batch& batch, int rank, const std::string& what) {
  const ExpectedGradient expected(batch);
  for (const int64_t reduction : {0, 1, 2}) {
    for (const aclDataType target_type : {ACL_INT32, ACL_INT64}) {
      GradientShape shape;
      shape.rank = rank;
      shape.reduction = reduction;
      shape.target_type = target_type;
      const auto grad_outputs = MakeGradOutputs(batch, shape, 17);
      ExpectGradient(batch, expected.Values(reduction, grad_outputs),
                     RunGradient(batch, grad_outputs, shape),
                     what + " reduction " + std::to_string(reduction));
    }
  }
}

TEST_P(BackwardValuesTest, EveryShapeIsWithinOneUlp) {
  uint64_t seed = 0;
  for (const int64_t classes : kClassCounts) {
    for (const Density density : kAllDensities) {
      for (const Spread spread : kAllSpreads) {
        // The oracle takes time in proportion to the pairs.
        const int64_t rows = classes > 500 ? 2 : 3;
        CheckBatch(MakeBatch(GetParam(), rows, classes, density, spread, ++seed), 2, "2-D");
        if (classes <= 257) {
          CheckBatch(MakeBatch(GetParam(), 1, classes, density, spread, ++seed), 1, "1-D");
        }
      }
    }
  }
}

TEST_P(BackwardValuesTest, ZeroDimensionalSelfIsOneClass) {
  for (const int64_t label : {0, -1}) {
    const Batch batch{GetParam(), 1, 1, {GetParam().one()}, {label}};
    CheckBatch(batch, 0, "0-D");
  }
}

TEST_P(BackwardValuesTest, SpecialScoresFollowIeee) {
  CheckBatch(MakeSpecialBatch(GetParam()), 2, "special scores");
}

// A hinge of exactly 0 adds nothing, one that is the least bit above does.
TEST_P(BackwardValuesTest, AHingeOfZeroHasNoGradient) {
  const FloatFormat& format = GetParam();
  const uint32_t one = format.one();
  const Batch batch{format, 2, 2, {one, 0, one - 1, 0}, {0, -1, 0, -1}};
  CheckBatch(batch, 2, "hinge of zero");
  GradientShape shape;
  const auto gradient = RunGradient(batch, {one, one}, shape);
  EXPECT_EQ(Decode(format, gradient[0]), 0);
  EXPECT_EQ(Decode(format, gradient[1]), 0);
  EXPECT_EQ(Decode(format, gradient[2]), -0.5);
  EXPECT_EQ(Decode(format, gradient[3]), 0.5);
}

TEST_P(BackwardValuesTest, ARepeatedLabelCountsEachTime) {
  const FloatFormat& format = GetParam();
  Batch batch = MakeBatch(format, 4, 9, Density::kNone, Spread::kClose, 3);
  batch.labels.assign(36, 2);  // Each row lists class 2 nine times.
  CheckBatch(batch, 2, "one label nine times");
}

TEST_P(BackwardValuesTest, GradOutputsOfAllSizesAreRoundedOnce) {
  const FloatFormat& format = GetParam();
  const Batch batch = MakeBatch(format, 8, 7, Density::kFew, Spread::kOrdinary, 4);
  const uint32_t sign = 1u << (format.bits - 1);
  // Zeros, subnormals, the least normal and the largest finite value.
  const std::vector<uint32_t> grad_outputs = {0,
                                              sign,
                                              1,
                                              sign | 3,
                                              1u << format.mantissa_bits,
                                              format.infinity() - 1,
                                              sign | (format.infinity() - 1),
                                              format.one()};
  ExpectGradient(batch, ExpectedGradient(batch).Values(0, grad_outputs),
                 RunGradient(batch, grad_outputs, GradientShape()), "sizes of gradOutput");
}

TEST_P(BackwardValuesTest, AnEmptyBatchWritesNothing) {
  const Batch batch{GetParam(), 0, 3, {}, {}};
  for (const int64_t reduction : {0, 1, 2}) {
    GradientShape shape;
    shape.reduction = reduction;
    EXPECT_TRUE(RunGradient(batch, MakeGradOutputs(batch, shape, 1), shape).empty());
  }
}

TEST_P(BackwardValuesTest, ALongRowIsExactToo) {
  CheckBatch(MakeBatch(GetParam(), 1, 100'003, Density::kFew, Spread::kClose, 5), 1, "long row");
}

}  // namespace
}  // namespace mlmargin::testing
