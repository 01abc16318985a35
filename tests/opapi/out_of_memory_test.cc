// SPDX-License-Identifier: Apache-2.0
// A row's list of labels that finds no memory: the stream reports it, and goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opapi/gradient_run.h"
#include "opapi/loss_run.h"
#include "support/sanitizers.h"

// Sanitizers bring allocators of their own.
#ifndef MLMARGIN_SANITIZED

#include "support/refuse_arrays.h"

namespace mlmargin::testing {
namespace {

TEST(OutOfMemoryTest, TheStreamReportsItAndGoesOn) {
  const AclSession session;
  const Batch batch = MakeBatch(kFloat32, 2, 3'000, Density::kHalf, Spread::kOrdinary, 1);
  {
    const CallTensors tensors(batch, CallShape());
    const Planned planned = Plan(tensors, 0);
    ASSERT_EQ(planned.status, 0);
    const Workspace workspace(planned.workspace_bytes);
    refuse_large_arrays = true;
    EXPECT_EQ(aclnnMultilabelMarginLoss(workspace.data(), planned.workspace_bytes, planned.executor,
                                        nullptr),
              0);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 207001);
    refuse_large_arrays = false;
    EXPECT_THAT(TakeMessage(), ::testing::HasSubstr("no memory for the label list of a row"));
  }
  const Expected expected(batch);
  ExpectLosses(batch, expected.Losses(0), expected.mask(), RunLoss(batch, CallShape()), "after");
}

TEST(OutOfMemoryTest, TheStreamReportsItForTheGradientToo) {
  const AclSession session;
  const Batch batch = MakeBatch(kFloat32, 2, 3'000, Density::kHalf, Spread::kOrdinary, 1);
  const GradientShape shape;
  const GradientTensors tensors(batch, MakeGradOutputs(batch, shape, 2), shape);
  const Planned planned = Plan(tensors, 0);
  ASSERT_EQ(planned.status, 0);
  refuse_large_arrays = true;
  EXPECT_EQ(aclnnMultilabelMarginLossBackward(nullptr, 0, planned.executor, nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 207001);
  refuse_large_arrays = false;
  EXPECT_THAT(TakeMessage(), ::testing::HasSubstr("no memory for the label list of a row"));
}

}  // namespace
}  // namespace mlmargin::testing

#endif  // MLMARGIN_SANITIZED
