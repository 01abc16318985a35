// SPDX-License-Identifier: Apache-2.0
// Labels outside [-1, C - 1]: skipped always; counted, logged or refused by the setting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mlmargin/settings.h"
#include "opapi/loss_run.h"

namespace mlmargin::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class LabelPolicyTest : public ::testing::Test {
 protected:
  ~LabelPolicyTest() override { SetLabelCheck(LabelCheck::kWarn); }

  // Row 0 is good; in row 1 entries 0 and 2 are bad; row 2 has junk behind its -1 only.
  Batch BadBatch() const {
    Batch batch = MakeBatch(kFloat32, 3, 4, Density::kNone, Spread::kOrdinary, 1);
    batch.labels = {1, -1, 0, 0, 7, 2, -2, -1, 0, -1, 99, -99};
    return batch;
  }

  AclSession session_;
};

TEST_F(LabelPolicyTest, BadLabelsAreSkippedWhateverTheirSize) {
  SetLabelCheck(LabelCheck::kIgnore);
  for (const int64_t bad : {int64_t{4}, int64_t{-2}, int64_t{INT32_MIN}, int64_t{INT32_MAX}}) {
    for (const aclDataType type : {ACL_INT32, ACL_INT64}) {
      Batch batch = MakeBatch(kFloat32, 1, 4, Density::kNone, Spread::kOrdinary, 2);
      batch.labels = {bad, 3, bad, -1};
      const Expected expected(batch);
      CallShape shape;
      shape.target_type = type;
      ExpectLosses(batch, expected.Losses(0), expected.mask(), RunLoss(batch, shape), "bad label");
    }
  }
  for (const int64_t bad : {INT64_MIN, INT64_MAX, int64_t{1} << 32, (int64_t{1} << 32) - 1}) {
    Batch batch = MakeBatch(kFloat32, 1, 4, Density::kNone, Spread::kOrdinary, 2);
    batch.labels = {bad, 3, bad, -1};
    const Expected expected(batch);
    ExpectLosses(batch, expected.Losses(0), expected.mask(), RunLoss(batch, CallShape()), "wide");
  }
}

TEST_F(LabelPolicyTest, WarnSaysOncePerCallHowManyAndWhereAndThinsOutInALoop) {
  ::testing::internal::CaptureStderr();
  RunLoss(BadBatch(), CallShape());
  const std::string first = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(first, AllOf(HasSubstr("[WARNING]"), HasSubstr("2 labels outside [-1, 3]"),
                           HasSubstr("the first is 7 at row 1, position 0")));
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 1);
  ::testing::internal::CaptureStderr();
  for (int call = 2; call <= 85; ++call) RunLoss(BadBatch(), CallShape());
  const std::string log = ::testing::internal::GetCapturedStderr();
  // Calls 2 to 10, 20, 40 and 80.
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 12);
  EXPECT_THAT(log, HasSubstr("(call 80 "));
}

TEST_F(LabelPolicyTest, IgnoreSaysNothingAndGoodLabelsNeverDo) {
  ::testing::internal::CaptureStderr();
  SetLabelCheck(LabelCheck::kIgnore);
  RunLoss(BadBatch(), CallShape());
  SetLabelCheck(LabelCheck::kWarn);
  Batch good = BadBatch();
  good.labels = {1, -1, 0, 0, 3, 2, -1, 5, 0, -1, 99, -99};
  RunLoss(good, CallShape());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(LabelPolicyTest, ErrorLeavesOutputsUntouchedAndTheStreamUsable) {
  for (const int64_t reduction : {0, 1, 2}) {
    SetLabelCheck(LabelCheck::kError);
    CallShape shape;
    shape.reduction = reduction;
    const CallTensors tensors(BadBatch(), shape);
    const Planned planned = Plan(tensors, reduction);
    ASSERT_EQ(planned.status, 0);
    const Workspace workspace(planned.workspace_bytes);
    ASSERT_EQ(aclnnMultilabelMarginLoss(workspace.data(), planned.workspace_bytes, planned.executor,
                                        nullptr),
              0);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 507035);
    EXPECT_THAT(TakeMessage(), AllOf(HasSubstr("target"), HasSubstr("2 labels"),
                                     HasSubstr("[-1, 3]"), HasSubstr("7 at row 1, position 0")));
    EXPECT_TRUE(tensors.NothingWritten());
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
    // The next call on the stream, with good labels, runs.
    Batch good = BadBatch();
    good.labels = {1, -1, 0, 0, 3, 2, -1, 5, 0, -1, 99, -99};
    const Expected expected(good);
    ExpectLosses(good, expected.Losses(reduction), expected.mask(), RunLoss(good, shape), "good");
  }
}

}  // namespace
}  // namespace mlmargin::testing
