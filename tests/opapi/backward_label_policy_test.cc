// SPDX-License-Identifier: Apache-2.0
// Labels outside [-1, C - 1] in the gradient: skipped always; counted, logged or refused by the
// setting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mlmargin/settings.h"
#include "opapi/gradient_run.h"

namespace mlmargin::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BackwardLabelPolicyTest : public ::testing::Test {
 protected:
  ~BackwardLabelPolicyTest() override { SetLabelCheck(LabelCheck::kWarn); }

  // Row 0 is good; in row 1 entries 0 and 2 are bad; row 2 has junk behind its -1 only.
  Batch BadBatch() const {
    Batch batch = MakeBatch(kFloat32, 3, 4, Density::kNone, Spread::kOrdinary, 1);
    batch.labels = {1, -1, 0, 0, 7, 2, -2, -1, 0, -1, 99, -99};
    return batch;
  }
  void ExpectRight(const Batch& batch, const GradientShape& shape) {
    const auto grad_outputs = MakeGradOutputs(batch, shape, 1);
    ExpectGradient(batch, ExpectedGradient(batch).Values(shape.reduction, grad_outputs),
                   RunGradient(batch, grad_outputs, shape), "labels");
  }

  AclSession session_;
};

TEST_F(BackwardLabelPolicyTest, BadLabelsAreSkippedWhateverTheirSize) {
  SetLabelCheck(LabelCheck::kIgnore);
  for (const int64_t bad : {int64_t{4}, int64_t{-2}, int64_t{INT32_MIN}, int64_t{INT32_MAX},
                            INT64_MIN, INT64_MAX, int64_t{1} << 32, (int64_t{1} << 32) - 1}) {
    Batch batch = MakeBatch(kFloat32, 1, 4, Density::kNone, Spread::kOrdinary, 2);
    batch.labels = {bad, 3, bad, -1};
    GradientShape shape;
    ExpectRight(batch, shape);
    if (bad < INT32_MIN || bad > INT32_MAX) continue;
    shape.target_type = ACL_INT32;
    ExpectRight(batch, shape);
  }
}

TEST_F(BackwardLabelPolicyTest, WarnNamesTheFunctionAndCountsItsOwnCalls) {
  const Batch batch = BadBatch();
  RunLoss(batch, CallShape());  // The loss counts for itself.
  ::testing::internal::CaptureStderr();
  ExpectRight(batch, GradientShape());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, AllOf(HasSubstr("[WARNING]"),
                         HasSubstr("]aclnnMultilabelMarginLossBackward: target: 2 labels outside "
                                   "[-1, 3] were skipped, the first is 7 at row 1, position 0 "
                                   "(call 1 with such labels")));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1);
  ::testing::internal::CaptureStderr();
  for (int call = 2; call <= 85; ++call) {
    RunGradient(batch, MakeGradOutputs(batch, GradientShape(), 1), GradientShape());
  }
  const std::string rest = ::testing::internal::GetCapturedStderr();
  // Calls 2 to 10, 20, 40 and 80.
  EXPECT_EQ(std::count(rest.begin(), rest.end(), '\n'), 12);
}

TEST_F(BackwardLabelPolicyTest, IgnoreSaysNothingAndGoodLabelsNeverDo) {
  ::testing::internal::CaptureStderr();
  SetLabelCheck(LabelCheck::kIgnore);
  ExpectRight(BadBatch(), GradientShape());
  SetLabelCheck(LabelCheck::kWarn);
  Batch good = BadBatch();
  good.labels = {1, -1, 0, 0, 3, 2, -1, 5, 0, -1, 99, -99};
  ExpectRight(good, GradientShape());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(BackwardLabelPolicyTest, ErrorLeavesGradInputUntouchedAndTheStreamUsable) {
  SetLabelCheck(LabelCheck::kError);
  for (const int64_t reduction : {0, 1, 2}) {
    GradientShape shape;
    shape.reduction = reduction;
    const Batch batch = BadBatch();
    const GradientTensors tensors(batch, MakeGradOutputs(batch, shape, 1), shape);
    const Planned planned = Plan(tensors, reduction);
    ASSERT_EQ(planned.status, 0);
    ASSERT_EQ(aclnnMultilabelMarginLossBackward(nullptr, 0, planned.executor, nullptr), 0);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 507035);
    EXPECT_THAT(TakeMessage(),
                HasSubstr("aclnnMultilabelMarginLossBackward: target: 2 labels are outside [-1, 3],"
                          " the first is 7 at row 1, position 0; gradInput was not written\n"));
    EXPECT_TRUE(tensors.NothingWritten());
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
    // The next call on the stream, with good labels, runs.
    Batch good = BadBatch();
    good.labels = {1, -1, 0, 0, 3, 2, -1, 5, 0, -1, 99, -99};
    ExpectRight(good, shape);
  }
}

}  // namespace
}  // namespace mlmargin::testing
