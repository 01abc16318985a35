// SPDX-License-Identifier: Apache-2.0
// The operator's values against exact arithmetic: dtypes x reductions x ranks x class counts x
// label densities x target types.
#include <gtest/gtest.h>

#include <cstdio>

#include "opapi/loss_run.h"

namespace mlmargin::testing {
namespace {

constexpr int64_t kClassCounts[] = {1,  2,  3,  4,  7,   8,   15,  16,   17,  31,
                                    33, 63, 64, 65, 127, 128, 257, 1000, 4096};

class ValuesTest : public ::testing::TestWithParam<FloatFormat> {
 protected:
  AclSession session_;
};

std::string NameOf(const ::testing::TestParamInfo<FloatFormat>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Types, ValuesTest, ::testing::Values(kFloat32, kFloat16, kBFloat16),
                         NameOf);

void CheckBatch(const Batch& batch, int rank, const std::string& what) {
  const Expected expected(batch);
  for (const int64_t reduction : {0, 1, 2}) {
    for (const aclDataType target_type : {ACL_INT32, ACL_INT64}) {
      CallShape shape;
      shape.rank = rank;
      shape.reduction = reduction;
      shape.target_type = target_type;
      ExpectLosses(batch, expected.Losses(reduction), expected.mask(), RunLoss(batch, shape),
                   what + " reduction " + std::to_string(reduction));
    }
  }
}

TEST_P(ValuesTest, EveryShapeIsWithinOneUlpAndTheMaskIsExact) {
  uint64_t seed = 0;
  for (const int64_t classes : kClassCounts) {
    for (const Density density : kAllDensities) {
      for (const Spread spread : kAllSpreads) {
        // The oracle takes time in proportion to the pairs.
        if (classes > 1000 && spread != Spread::kOrdinary && spread != Spread::kClose) continue;
        const int64_t rows = classes > 1000 ? 2 : 3;
        CheckBatch(MakeBatch(GetParam(), rows, classes, density, spread, ++seed), 2, "2-D");
        if (classes <= 257) {
          CheckBatch(MakeBatch(GetParam(), 1, classes, density, spread, ++seed), 1, "1-D");
        }
      }
    }
  }
  std::printf("largest error for %s: %.4f ulp\n", GetParam().name, WorstUlp(GetParam()));
  RecordProperty("worst_ulp", std::to_string(WorstUlp(GetParam())));
}

TEST_P(ValuesTest, ZeroDimensionalSelfIsOneClass) {
  for (const int64_t label : {0, -1}) {
    const Batch batch{GetParam(), 1, 1, {GetParam().one()}, {label}};
    CheckBatch(batch, 0, "0-D");
  }
}

TEST_P(ValuesTest, OneClassOrAllLabelsOrNoLabelsLoseNothing) {
  const uint32_t one = GetParam().one();
  const Batch all{GetParam(), 2, 3, {one, 0, one, 0, 0, one}, {2, 0, 1, 0, 1, 2}};
  const Batch none{GetParam(), 2, 3, {one, 0, one, 0, 0, one}, {-1, 0, 1, -1, 2, 2}};
  for (const Batch& batch : {all, none}) {
    const LossResult result = RunLoss(batch, CallShape());
    EXPECT_EQ(result.losses, (std::vector<uint32_t>{0, 0}));
    EXPECT_EQ(result.mask, std::vector<uint32_t>(6, batch.labels[0] == -1 ? 0 : one));
  }
}

TEST_P(ValuesTest, EmptyBatchWritesNothingZeroOrNaN) {
  const Batch batch{GetParam(), 0, 3, {}, {}};
  CallShape shape;
  EXPECT_TRUE(RunLoss(batch, shape).losses.empty());
  shape.reduction = 2;
  EXPECT_EQ(RunLoss(batch, shape).losses, (std::vector<uint32_t>{0}));
  shape.reduction = 1;
  EXPECT_EQ(RunLoss(batch, shape).losses, (std::vector<uint32_t>{GetParam().quiet_nan()}));
}

TEST_P(ValuesTest, SpecialScoresFollowIeee) {
  CheckBatch(MakeSpecialBatch(GetParam()), 2, "special scores");
}

TEST_P(ValuesTest, ALongRowIsExactToo) {
  CheckBatch(MakeBatch(GetParam(), 1, 100'003, Density::kFew, Spread::kClose, 5), 1, "long row");
}

}  // namespace
}  // namespace mlmargin::testing
