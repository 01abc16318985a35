// SPDX-License-Identifier: Apache-2.0
// For tests of large batches: skips them where the memory is too small, names their types.
#ifndef MLMARGIN_TESTS_SIZE_SIZE_FIXTURE_H_
#define MLMARGIN_TESTS_SIZE_SIZE_FIXTURE_H_

#include <gtest/gtest.h>

#include "mlmargin/settings.h"
#include "size/level_scores.h"
#include "size/memory_use.h"
#include "size/operator_call.h"

namespace mlmargin::testing {

class SizeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    constexpr int64_t kNeeded = int64_t{6} << 30;
    if (AvailableBytes() < kNeeded) {
      GTEST_SKIP() << "needs 6 GiB of free memory, there are " << AvailableBytes() << " bytes";
    }
  }
  ~SizeTest() override { EXPECT_TRUE(SetNumThreads(0).ok()); }

  AclSession session_;
};

inline constexpr int64_t kTwoToThe31 = int64_t{1} << 31;

// The exact loss of a row within 1 ulp.
inline void ExpectLoss(const FloatFormat& format, const ExactValue& exact, uint32_t bits) {
  EXPECT_LE(UlpError(format, exact, bits), 1.0)
      << Decode(format, bits) << ", exactly " << exact.value.get_d();
}

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_SIZE_SIZE_FIXTURE_H_
