// SPDX-License-Identifier: Apache-2.0
// The same inputs give the same bits, whatever is around them.
#include <gtest/gtest.h>

#include <cfenv>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "kernel_run.h"

namespace mlmargin::testing {
namespace {

constexpr FloatFormat kFormats[] = {kFloat32, kFloat16, kBFloat16};

class InvarianceTest : public ::testing::TestWithParam<KernelChoice> {
 protected:
  InvarianceTest() { GetParam().Use(); }
  ~InvarianceTest() override {
    EXPECT_TRUE(SetTarget("").ok());
    EXPECT_TRUE(SetNumThreads(0).ok());
    UseAnyKernel();
  }

  // One long row, some middling ones, many short ones: each way of splitting the work.
  std::vector<Batch> Batches() {
    std::vector<Batch> batches;
    for (const FloatFormat& format : kFormats) {
      batches.push_back(MakeBatch(format, 1, 150'001, Density::kFew, Spread::kOrdinary, 1));
      batches.push_back(MakeBatch(format, 3, 40'000, Density::kFew, Spread::kWide, 2));
      batches.push_back(MakeBatch(format, 40, 2'500, Density::kHalf, Spread::kClose, 3));
      batches.push_back(MakeBatch(format, 3'000, 17, Density::kHalf, Spread::kTiny, 4));
    }
    return batches;
  }
};

INSTANTIATE_TEST_SUITE_P(RowKernels, InvarianceTest, ::testing::ValuesIn(kKernelChoices),
                         [](const auto& test) { return test.param.name; });

TEST_P(InvarianceTest, BitsAreThoseOfOneThreadForAnyNumberOfThreads) {
  for (const Batch& batch : Batches()) {
    for (const Reduction reduction : {Reduction::kNone, Reduction::kMean}) {
      ASSERT_TRUE(SetNumThreads(1).ok());
      const KernelResult one = RunKernel(batch, reduction);
      for (const int threads : {2, 3, 16}) {
        ASSERT_TRUE(SetNumThreads(threads).ok());
        EXPECT_EQ(RunKernel(batch, reduction), one) << batch.Name() << " threads " << threads;
      }
    }
  }
}

TEST_P(InvarianceTest, BitsAreTheSameOnEveryTarget) {
  for (const Batch& batch : Batches()) {
    const KernelResult best = RunKernel(batch, Reduction::kSum);
    for (const std::string& target : SupportedTargets()) {
      ASSERT_TRUE(SetTarget(target).ok());
      EXPECT_EQ(RunKernel(batch, Reduction::kSum), best) << batch.Name() << " on " << target;
    }
    ASSERT_TRUE(SetTarget("").ok());
  }
}

TEST_P(InvarianceTest, BitsDoNotDependOnAlignmentOrPitch) {
  for (const Batch& batch : Batches()) {
    const KernelResult plain = RunKernel(batch, Reduction::kNone);
    for (const Layout layout : {Layout{0, 1}, Layout{1, 2}, Layout{3, 4}, Layout{13, 34}}) {
      EXPECT_EQ(RunKernel(batch, Reduction::kNone, layout), plain)
          << batch.Name() << " pitch +" << layout.pitch_extra << " misaligned by "
          << layout.misalignment;
    }
  }
}

TEST_P(InvarianceTest, ARowAloneHasTheBitsOfTheRowInABatch) {
  for (const Batch& batch : Batches()) {
    const KernelResult whole = RunKernel(batch, Reduction::kNone);
    for (int64_t n = 0; n < batch.rows; n += std::max<int64_t>(1, batch.rows / 5)) {
      const auto begin = n * batch.classes;
      Batch row{batch.format, 1, batch.classes, {}, batch.RowLabels(n)};
      row.scores.assign(batch.scores.begin() + begin, batch.scores.begin() + begin + batch.classes);
      EXPECT_EQ(RunKernel(row, Reduction::kNone).losses[0], whole.losses[static_cast<size_t>(n)])
          << batch.Name() << " row " << n;
    }
  }
}

TEST_P(InvarianceTest, BitsDoNotDependOnTheCallersFloatingPointState) {
  for (const Batch& batch : Batches()) {
    const KernelResult plain = RunKernel(batch, Reduction::kMean);
    for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      ASSERT_EQ(std::fesetround(rounding), 0);
      const KernelResult rounded = RunKernel(batch, Reduction::kMean);
      EXPECT_EQ(std::fegetround(), rounding);
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(rounded, plain) << batch.Name();
    }
#if defined(__x86_64__)
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040);  // Flush to zero, denormals are zero.
    const KernelResult flushed = RunKernel(batch, Reduction::kMean);
    EXPECT_EQ(_mm_getcsr() & 0x8040u, 0x8040u);
    _mm_setcsr(saved);
    EXPECT_EQ(flushed, plain) << batch.Name();
#endif
  }
}

TEST_P(InvarianceTest, CallsFromManyThreadsAtOnceHaveTheBitsOfOne) {
  const std::vector<Batch> batches = Batches();
  std::vector<KernelResult> alone;
  for (const Batch& batch : batches) alone.push_back(RunKernel(batch, Reduction::kMean));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t k = 0; k < batches.size(); ++k) {
        const size_t b = (k + t) % batches.size();
        EXPECT_EQ(RunKernel(batches[b], Reduction::kMean), alone[b]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(InvarianceTest, LabelOrderMovesTheResultByOneUlpAtMost) {
  Batch batch = MakeBatch(kFloat32, 1, 301, Density::kFew, Spread::kOrdinary, 9);
  const std::vector<ExactValue> exact = Expected(batch).Losses(0);
  std::sort(batch.labels.begin(), batch.labels.begin() + 5);
  do {
    EXPECT_LE(UlpError(kFloat32, exact[0], RunKernel(batch, Reduction::kNone).losses[0]), 1.0);
  } while (std::next_permutation(batch.labels.begin(), batch.labels.begin() + 5));
}

}  // namespace
}  // namespace mlmargin::testing
