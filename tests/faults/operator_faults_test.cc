// SPDX-License-Identifier: Apache-2.0
// Whatever cannot be had on the way through an aclnn program: each call answers with a code of
// docs/api.md and a message, nothing is lost, and what follows works.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "faults/operator_flow.h"

namespace mlmargin::testing {
namespace {

class OperatorFaultsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // Its threads are counted in what lives; those of the kernel are in the other test.
    setenv("MLMARGIN_NUM_THREADS", "1", /*overwrite=*/1);
    operator_flow_config =
        ::testing::TempDir() + "operator_faults_" + std::to_string(getpid()) + ".json";
    std::ofstream(operator_flow_config)
        << R"({"defaultDevice": {"default_device": "0"}, "dump": {"list": [1, 2]}})";
  }
  static void TearDownTestSuite() { std::remove(operator_flow_config.c_str()); }
};

TEST_F(OperatorFaultsTest, AnyOneFailureIsReportedAndTheCallMadeAgainWorks) {
  SweepFaults({&RunOperatorFlow, /*ends_its_threads=*/true}, FaultMode::kOnce);
}

TEST_F(OperatorFaultsTest, EverythingIsGivenBackThoughNothingCanBeHad) {
  SweepFaults({&RunOperatorFlow, /*ends_its_threads=*/true}, FaultMode::kFromThenOn);
}

}  // namespace
}  // namespace mlmargin::testing
