// SPDX-License-Identifier: Apache-2.0
// The same inputs give the same bits through the C API: for any thread count, stream, number of
// calls at once and setting. Alignment and views are in view_test, SIMD targets in tests/kernel.
#include <gtest/gtest.h>

#include <thread>

#include "mlmargin/settings.h"
#include "opapi/loss_run.h"

namespace mlmargin::testing {
namespace {

class DeterminismTest : public ::testing::Test {
 protected:
  ~DeterminismTest() override { EXPECT_TRUE(SetNumThreads(0).ok()); }

  std::vector<Batch> Batches() const {
    return {MakeBatch(kFloat32, 1, 120'000, Density::kFew, Spread::kWide, 1),
            MakeBatch(kFloat16, 50, 1'501, Density::kFew, Spread::kClose, 2),
            MakeBatch(kBFloat16, 2'000, 33, Density::kHalf, Spread::kTiny, 3)};
  }

  AclSession session_;
};

TEST_F(DeterminismTest, ThreadCountAndReductionOrderDoNotShow) {
  for (const Batch& batch : Batches()) {
    for (const int64_t reduction : {0, 1, 2}) {
      CallShape shape;
      shape.reduction = reduction;
      ASSERT_TRUE(SetNumThreads(1).ok());
      const LossResult one = RunLoss(batch, shape);
      for (const int threads : {2, 7, 0}) {
        ASSERT_TRUE(SetNumThreads(threads).ok());
        EXPECT_EQ(RunLoss(batch, shape), one) << batch.Name() << ", " << threads << " threads";
      }
    }
  }
}

TEST_F(DeterminismTest, StreamsAtOnceDoNotShow) {
  const std::vector<Batch> batches = Batches();
  std::vector<LossResult> alone;
  for (const Batch& batch : batches) alone.push_back(RunLoss(batch, CallShape()));
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      ASSERT_EQ(aclrtSetCurrentContext(context), 0);
      CallShape shape;
      ASSERT_EQ(aclrtCreateStream(&shape.stream), 0);
      for (size_t k = 0; k < 2 * batches.size(); ++k) {
        const size_t b = (k + t) % batches.size();
        EXPECT_EQ(RunLoss(batches[b], shape), alone[b]);
      }
      EXPECT_EQ(aclrtDestroyStream(shape.stream), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DeterminismTest, ARowHasTheSameBitsAloneAndInAnyBatch) {
  for (const Batch& batch : Batches()) {
    const LossResult whole = RunLoss(batch, CallShape());
    for (const int64_t n : {int64_t{0}, batch.rows / 2, batch.rows - 1}) {
      const auto begin = batch.scores.begin() + n * batch.classes;
      const Batch row{
          batch.format, 1, batch.classes, {begin, begin + batch.classes}, batch.RowLabels(n)};
      CallShape shape;
      EXPECT_EQ(RunLoss(row, shape).losses[0], whole.losses[static_cast<size_t>(n)]);
      shape.rank = 1;
      EXPECT_EQ(RunLoss(row, shape).losses[0], whole.losses[static_cast<size_t>(n)]);
    }
  }
}

TEST_F(DeterminismTest, TheDeterministicParameterIsKeptAndChangesNothing) {
  const Batch batch = Batches()[1];
  const LossResult before = RunLoss(batch, CallShape());
  for (const int64_t value : {0, 1, 2, 3}) {
    ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, value), 0);
    ASSERT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, value), 0);
    int64_t read = -1;
    ASSERT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &read), 0);
    EXPECT_EQ(read, value);
    ASSERT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &read), 0);
    EXPECT_EQ(read, value);
    EXPECT_EQ(RunLoss(batch, CallShape()), before);
  }
}

}  // namespace
}  // namespace mlmargin::testing
