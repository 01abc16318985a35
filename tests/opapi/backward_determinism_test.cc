// SPDX-License-Identifier: Apache-2.0
// The gradient has the same bits through the C API for any thread count, stream, number of calls at
// once and neighbours in the batch. Views are in backward_view_test, SIMD targets in tests/kernel.
#include <gtest/gtest.h>

#include <thread>

#include "mlmargin/settings.h"
#include "opapi/gradient_run.h"

namespace mlmargin::testing {
namespace {

class BackwardDeterminismTest : public ::testing::Test {
 protected:
  ~BackwardDeterminismTest() override { EXPECT_TRUE(SetNumThreads(0).ok()); }

  static std::vector<Batch> Batches() {
    return {MakeBatch(kFloat32, 1, 120'000, Density::kFew, Spread::kWide, 1),
            MakeBatch(kFloat16, 50, 1'501, Density::kFew, Spread::kClose, 2),
            MakeBatch(kBFloat16, 2'000, 33, Density::kHalf, Spread::kTiny, 3),
            MakeBatch(kFloat32, 2, 5'000, Density::kHalf, Spread::kOrdinary, 4)};
  }
  static std::vector<uint32_t> Run(const Batch& batch, const GradientShape& shape) {
    return RunGradient(batch, MakeGradOutputs(batch, shape, 1), shape);
  }

  AclSession session_;
};

TEST_F(BackwardDeterminismTest, ThreadCountDoesNotShow) {
  for (const Batch& batch : Batches()) {
    for (const int64_t reduction : {0, 1, 2}) {
      GradientShape shape;
      shape.reduction = reduction;
      ASSERT_TRUE(SetNumThreads(1).ok());
      const std::vector<uint32_t> one = Run(batch, shape);
      for (const int threads : {2, 7, 0}) {
        ASSERT_TRUE(SetNumThreads(threads).ok());
        EXPECT_EQ(Run(batch, shape), one) << batch.Name() << ", " << threads << " threads";
      }
    }
  }
}

TEST_F(BackwardDeterminismTest, StreamsAtOnceDoNotShow) {
  const std::vector<Batch> batches = Batches();
  std::vector<std::vector<uint32_t>> alone;
  for (const Batch& batch : batches) alone.push_back(Run(batch, GradientShape()));
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      ASSERT_EQ(aclrtSetCurrentContext(context), 0);
      GradientShape shape;
      ASSERT_EQ(aclrtCreateStream(&shape.stream), 0);
      for (size_t k = 0; k < batches.size(); ++k) {
        const size_t b = (k + t) % batches.size();
        EXPECT_EQ(Run(batches[b], shape), alone[b]);
      }
      EXPECT_EQ(aclrtDestroyStream(shape.stream), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(BackwardDeterminismTest, ARowHasTheSameBitsAloneAndInAnyBatch) {
  for (const Batch& batch : Batches()) {
    const auto grad_outputs = MakeGradOutputs(batch, GradientShape(), 1);
    const auto whole = RunGradient(batch, grad_outputs, GradientShape());
    for (const int64_t n : {int64_t{0}, batch.rows / 2, batch.rows - 1}) {
      const auto scores = batch.scores.begin() + n * batch.classes;
      const Batch row{
          batch.format, 1, batch.classes, {scores, scores + batch.classes}, batch.RowLabels(n)};
      const auto begin = whole.begin() + n * batch.classes;
      GradientShape shape;
      for (const int rank : {2, 1}) {
        shape.rank = rank;
        EXPECT_EQ(RunGradient(row, {grad_outputs[static_cast<size_t>(n)]}, shape),
                  std::vector<uint32_t>(begin, begin + batch.classes));
      }
    }
  }
}

}  // namespace
}  // namespace mlmargin::testing
