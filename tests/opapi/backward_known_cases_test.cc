// SPDX-License-Identifier: Apache-2.0
// Gradients that people stumbled over in other implementations of this loss, with the right values.
// Each name says what goes wrong elsewhere; the reports are public.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "opapi/gradient_run.h"
#include "opapi/tensor_spec.h"

namespace mlmargin::testing {
namespace {

using ::testing::HasSubstr;

using Floats = std::vector<float>;

class BackwardKnownCasesTest : public ::testing::Test {
 protected:
  AclSession session_;
};

Batch Float32Batch(int64_t rows, const Floats& scores, const std::vector<int64_t>& labels) {
  Batch batch{kFloat32, rows, static_cast<int64_t>(scores.size()) / rows, {}, labels};
  for (const float score : scores) batch.scores.push_back(std::bit_cast<uint32_t>(score));
  return batch;
}

// The gradient for a gradOutput of ones.
Floats Compute(int64_t rows, const Floats& scores, const std::vector<int64_t>& labels,
               int64_t reduction, aclDataType target_type = ACL_INT64) {
  const Batch batch = Float32Batch(rows, scores, labels);
  GradientShape shape;
  shape.reduction = reduction;
  shape.target_type = target_type;
  const std::vector<uint32_t> ones(reduction == 0 ? static_cast<size_t>(rows) : 1, kFloat32.one());
  Floats gradient;
  for (const uint32_t bits : RunGradient(batch, ones, shape)) {
    gradient.push_back(std::bit_cast<float>(bits));
  }
  return gradient;
}

TEST_F(BackwardKnownCasesTest, PaddingIsNoLabel) {
  const Floats right = {0.4f, -0.6f, 0.4f, -0.4f, 0.2f};
  for (const aclDataType type : {ACL_INT32, ACL_INT64}) {
    EXPECT_EQ(Compute(1, {0.75f, -0.5f, 0.25f, 0, -1}, {1, 3, -1, -1, -1}, 1, type), right);
  }
}

TEST_F(BackwardKnownCasesTest, ARepeatedLabelCountsTwice) {
  EXPECT_EQ(Compute(1, {0.5f, -0.25f, 1, 0}, {2, 2, -1, -1}, 0), Floats({0.5f, 0, -0.5f, 0}));
}

TEST_F(BackwardKnownCasesTest, ARowMayBeginWithMinusOne) {
  EXPECT_EQ(Compute(1, {3, -2, 7}, {-1, 0, 2}, 0), Floats({0, 0, 0}));
}

TEST_F(BackwardKnownCasesTest, NoNegativeClassHasNoGradient) {
  EXPECT_EQ(Compute(1, {5, 1, 2}, {2, 0, 1}, 0), Floats({0, 0, 0}));
  EXPECT_EQ(Compute(2, {0.3f, 0.3f}, {0, -1}, 0), Floats({0, 0}));
}

TEST_F(BackwardKnownCasesTest, LabelOrderDoesNotMatter) {
  const Floats scores = {0.1f, 0.2f, 0.4f, 0.8f, -0.3f};
  const Floats right = {-0.4f, 0.6f, -0.4f, 0.6f, -0.4f};
  EXPECT_EQ(Compute(1, scores, {4, 0, 2, -1, -1}, 0), right);
  EXPECT_EQ(Compute(1, scores, {2, 4, 0, -1, -1}, 0), right);
}

TEST_F(BackwardKnownCasesTest, LabelsOutOfRangeAreSkipped) {
  EXPECT_EQ(Compute(2, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, 0, ACL_INT32), Floats(6, 0));
}

TEST_F(BackwardKnownCasesTest, HalfOfTwentyThousandClassesAreLabelsAndItFinishes) {
  const Batch batch = MakeBatch(kFloat32, 1, 20'000, Density::kHalf, Spread::kOrdinary, 69);
  const auto gradient = RunGradient(batch, {kFloat32.one()}, GradientShape());
  EXPECT_LT(std::bit_cast<float>(gradient[static_cast<size_t>(batch.labels[0])]), 0.0f);
}

// The mask is checked for shape and data type, its contents are not read: it follows from target.
TEST_F(BackwardKnownCasesTest, AMaskOfOtherValuesIsNotBelieved) {
  const Batch batch = Float32Batch(2, {0.5f, 0.25f, 0, 0}, {0, -1, 1, -1});
  const std::vector<uint32_t> ones(2, kFloat32.one());
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  const std::vector<uint32_t> right = {bits(-0.5f), bits(0.5f), bits(0.5f), bits(-0.5f)};
  for (const float wrong : {2.0f, -1.0f, 0.0f}) {
    const GradientTensors tensors(batch, ones, GradientShape());
    tensors.is_target->Write({bits(wrong), 0, 0, 1});
    EXPECT_EQ(aclnnMultilabelMarginLossBackward(nullptr, 0, Plan(tensors, 0).executor, nullptr), 0);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(tensors.grad_input->Read(), right);
  }
}

TEST_F(BackwardKnownCasesTest, AMaskOfAnotherShapeOrTypeIsRefused) {
  const Batch batch = Float32Batch(2, {0.5f, 0.25f, 0, 0}, {0, -1, 1, -1});
  const GradientTensors tensors(batch, {kFloat32.one(), kFloat32.one()}, GradientShape());
  const auto refused = [&](const Spec& spec, const char* text) {
    aclTensor* const mask = Make(spec);
    uint64_t bytes = 77;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
                  tensors.grad_output->handle(), tensors.self->handle(), tensors.target->handle(),
                  0, mask, tensors.grad_input->handle(), &bytes, &executor),
              161002);
    EXPECT_THAT(TakeMessage(), HasSubstr(text));
    EXPECT_EQ(aclDestroyTensor(mask), 0);
  };
  refused(Spec{{1, 2}}, "isTarget: its shape must be that of target, (2, 2), got (1, 2)");
  refused(Spec{{2, 2}, ACL_INT64},
          "isTarget: its data type must be that of self, FLOAT, got INT64");
}

}  // namespace
}  // namespace mlmargin::testing
