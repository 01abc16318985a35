// SPDX-License-Identifier: Apache-2.0
// Strided views of all five tensors: the bits of contiguous ones, and not a byte beside them.
#include <gtest/gtest.h>

#include <bit>

#include "opapi/gradient_run.h"

namespace mlmargin::testing {
namespace {

class BackwardViewTest : public ::testing::Test {
 protected:
  AclSession session_;
};

TEST_F(BackwardViewTest, EveryCombinationOfViewsHasTheBitsOfContiguousTensors) {
  for (const FloatFormat& format : {kFloat32, kFloat16, kBFloat16}) {
    for (const int64_t classes : {1, 5, 67}) {
      const Batch batch = MakeBatch(format, 4, classes, Density::kFew, Spread::kOrdinary, 3);
      GradientShape shape;
      const auto grad_outputs = MakeGradOutputs(batch, shape, 3);
      const auto contiguous = RunGradient(batch, grad_outputs, shape);
      ExpectGradient(batch, ExpectedGradient(batch).Values(0, grad_outputs), contiguous, "");
      for (const ViewKind self : kAllViewKinds) {
        for (const ViewKind target : kAllViewKinds) {
          for (const ViewKind grad_input : kAllViewKinds) {
            shape.self_view = shape.mask_view = self;
            shape.target_view = target;
            shape.grad_input_view = shape.out_view = grad_input;
            ASSERT_EQ(RunGradient(batch, grad_outputs, shape), contiguous)
                << batch.Name() << " self " << static_cast<int>(self) << " target "
                << static_cast<int>(target) << " gradients " << static_cast<int>(grad_input);
          }
        }
      }
    }
  }
}

TEST_F(BackwardViewTest, LongStridedRowsHaveTheBitsOfContiguousOnes) {
  const Batch batch = MakeBatch(kFloat16, 2, 70'001, Density::kFew, Spread::kOrdinary, 4);
  GradientShape shape;
  shape.reduction = 1;
  const auto grad_outputs = MakeGradOutputs(batch, shape, 4);
  const auto contiguous = RunGradient(batch, grad_outputs, shape);
  for (const ViewKind kind : kAllViewKinds) {
    shape.self_view = shape.target_view = shape.grad_input_view = kind;
    EXPECT_EQ(RunGradient(batch, grad_outputs, shape), contiguous) << static_cast<int>(kind);
  }
}

TEST_F(BackwardViewTest, OneDimensionalViewsMayBeStepped) {
  const Batch batch = MakeBatch(kBFloat16, 1, 33, Density::kHalf, Spread::kOrdinary, 5);
  GradientShape shape;
  shape.rank = 1;
  shape.reduction = 2;
  shape.target_type = ACL_INT32;
  const auto grad_outputs = MakeGradOutputs(batch, shape, 5);
  const auto contiguous = RunGradient(batch, grad_outputs, shape);
  shape.self_view = shape.target_view = shape.mask_view = ViewKind::kStepped;
  shape.out_view = shape.grad_input_view = ViewKind::kStepped;
  EXPECT_EQ(RunGradient(batch, grad_outputs, shape), contiguous);
}

TEST_F(BackwardViewTest, DataNeedsNoAlignment) {
  for (const FloatFormat& format : {kFloat32, kFloat16}) {
    const Batch batch = MakeBatch(format, 3, 101, Density::kFew, Spread::kOrdinary, 6);
    GradientShape shape;
    const auto grad_outputs = MakeGradOutputs(batch, shape, 6);
    const auto aligned = RunGradient(batch, grad_outputs, shape);
    for (const size_t misalignment : std::initializer_list<size_t>{1, 2, 3, 4, 31}) {
      shape.misalignment = misalignment;
      EXPECT_EQ(RunGradient(batch, grad_outputs, shape), aligned) << misalignment;
    }
  }
}

// Stride 0 in all inputs: one row, one label list, one gradient for all, as an expanded
// gradient of a sum has it.
TEST_F(BackwardViewTest, InputsMayBeExpandedWithStrideZero) {
  const int64_t shape[] = {3, 3}, expanded[] = {0, 1}, storage[] = {3};
  const int64_t rows[] = {3}, all_one[] = {0};
  const View row{{3}, {1}, 0};
  DeviceTensor self(row, ACL_FLOAT), target(row, ACL_INT64), grad_output(row, ACL_FLOAT);
  self.Write(
      {std::bit_cast<int32_t>(0.5f), std::bit_cast<int32_t>(0.25f), std::bit_cast<int32_t>(-0.5f)});
  target.Write({0, -1, -1});
  grad_output.Write({0, std::bit_cast<int32_t>(-6.0f), 0});
  DeviceTensor grad_input(MakeView({3, 3}, ViewKind::kContiguous), ACL_FLOAT);
  aclTensor* const views[] = {
      aclCreateTensor(rows, 1, ACL_FLOAT, all_one, 1, ACL_FORMAT_ND, storage, 1,
                      grad_output.data()),
      aclCreateTensor(shape, 2, ACL_FLOAT, expanded, 0, ACL_FORMAT_ND, storage, 1, self.data()),
      aclCreateTensor(shape, 2, ACL_INT64, expanded, 0, ACL_FORMAT_ND, storage, 1, target.data()),
      aclCreateTensor(shape, 2, ACL_FLOAT, expanded, 0, ACL_FORMAT_ND, storage, 1, nullptr)};
  uint64_t bytes = 77;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
                views[0], views[1], views[2], 0, views[3], grad_input.handle(), &bytes, &executor),
            0)
      << TakeMessage();
  ASSERT_EQ(aclnnMultilabelMarginLossBackward(nullptr, 0, executor, nullptr), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  // Of the pairs (0, 1) with hinge 0.75 and (0, 2) with hinge 0 the first one counts.
  const std::vector<float> one_row = {2, -2, 0};
  const std::vector<uint32_t> gradient = grad_input.Read();
  for (size_t k = 0; k < 9; ++k) EXPECT_EQ(std::bit_cast<float>(gradient[k]), one_row[k % 3]) << k;
  for (aclTensor* view : views) EXPECT_EQ(aclDestroyTensor(view), 0);
}

// self and gradInput as the even and odd columns of one matrix share no byte.
TEST_F(BackwardViewTest, InterleavedTensorsOfOneBufferWork) {
  const Batch batch = MakeBatch(kFloat32, 5, 9, Density::kFew, Spread::kOrdinary, 7);
  const auto grad_outputs = MakeGradOutputs(batch, GradientShape(), 7);
  const auto expected = RunGradient(batch, grad_outputs, GradientShape());
  const GradientTensors tensors(batch, grad_outputs, GradientShape());
  const View even{{5, 9}, {18, 2}, 0}, odd{{5, 9}, {18, 2}, 1};
  DeviceTensor both(View{{90}, {1}, 0}, ACL_FLOAT);
  std::vector<int64_t> values(90, 0x7FC00000);
  for (int64_t k = 0; k < 45; ++k) {
    values[static_cast<size_t>(even.IndexOf(k))] = batch.scores[static_cast<size_t>(k)];
  }
  both.Write(values);
  const int64_t storage[] = {90};
  const auto view_of = [&](const View& view) {
    return aclCreateTensor(view.shape.data(), 2, ACL_FLOAT, view.strides.data(), view.offset,
                           ACL_FORMAT_ND, storage, 1, both.data());
  };
  aclTensor* const self = view_of(even);
  aclTensor* const grad_input = view_of(odd);
  uint64_t bytes = 77;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
                tensors.grad_output->handle(), self, tensors.target->handle(), 0,
                tensors.is_target->handle(), grad_input, &bytes, &executor),
            0)
      << TakeMessage();
  ASSERT_EQ(aclnnMultilabelMarginLossBackward(nullptr, 0, executor, nullptr), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  const std::vector<uint32_t> after = both.Read();
  for (int64_t k = 0; k < 45; ++k) {
    EXPECT_EQ(after[static_cast<size_t>(odd.IndexOf(k))], expected[static_cast<size_t>(k)]);
    EXPECT_EQ(after[static_cast<size_t>(even.IndexOf(k))], batch.scores[static_cast<size_t>(k)]);
  }
  EXPECT_EQ(aclDestroyTensor(self), 0);
  EXPECT_EQ(aclDestroyTensor(grad_input), 0);
}

}  // namespace
}  // namespace mlmargin::testing
