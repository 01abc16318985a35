// SPDX-License-Identifier: Apache-2.0
// Environment variables of the kernels with bad values: the first call says so in the log, once.
#include <gtest/gtest.h>

#include <cstdlib>

#include "opapi/loss_run.h"

namespace mlmargin::testing {
namespace {

// Two calls in a process that has read no settings yet, then the end.
[[noreturn]] void CallTwiceAndExit() {
  setenv("MLMARGIN_NUM_THREADS", "many", 1);
  setenv("MLMARGIN_LABEL_CHECK", "perhaps", 1);
  {
    const AclSession session;
    const Batch batch = MakeBatch(kFloat32, 2, 5, Density::kFew, Spread::kOrdinary, 1);
    for (int k = 0; k < 2; ++k) RunLoss(batch, CallShape());
  }
  std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(EnvironmentDeathTest, BadValuesAreIgnoredAndLoggedOnce) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(CallTwiceAndExit(), ::testing::ExitedWithCode(0),
              "^\\[WARNING\\] OP[^\n]*MLMARGIN_[^\n]*\n\\[WARNING\\] OP[^\n]*MLMARGIN_[^\n]*\n$");
}

// The runtime and the kernels are two libraries; each looks, and one of them speaks.
TEST(EnvironmentDeathTest, AnUnknownVariableIsNamedOnce) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto run = [] {
    setenv("MLMARGIN_DEVICE_MEMROY", "isolated", 1);
    const AclSession session;
    const Batch batch = MakeBatch(kFloat32, 2, 5, Density::kFew, Spread::kOrdinary, 1);
    RunLoss(batch, CallShape());
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0),
              "^mlmargin: the environment variable MLMARGIN_DEVICE_MEMROY is no setting and does "
              "nothing; did you mean MLMARGIN_DEVICE_MEMORY.\n$");
}

}  // namespace
}  // namespace mlmargin::testing
