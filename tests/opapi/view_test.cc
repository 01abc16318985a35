// SPDX-License-Identifier: Apache-2.0
// Strided views of all four tensors: the bits of contiguous ones, and not a byte beside them.
#include <gtest/gtest.h>

#include <bit>

#include "opapi/loss_run.h"

namespace mlmargin::testing {
namespace {

class ViewTest : public ::testing::Test {
 protected:
  AclSession session_;
};

TEST_F(ViewTest, EveryCombinationOfViewsHasTheBitsOfContiguousTensors) {
  for (const FloatFormat& format : {kFloat32, kFloat16, kBFloat16}) {
    for (const int64_t classes : {1, 5, 67}) {
      const Batch batch = MakeBatch(format, 4, classes, Density::kFew, Spread::kOrdinary, 3);
      CallShape shape;
      const LossResult contiguous = RunLoss(batch, shape);
      for (const ViewKind self : kAllViewKinds) {
        for (const ViewKind target : kAllViewKinds) {
          for (const ViewKind mask : kAllViewKinds) {
            shape.self_view = self;
            shape.target_view = target;
            shape.mask_view = mask;
            shape.out_view = mask;
            ASSERT_EQ(RunLoss(batch, shape), contiguous)
                << batch.Name() << " self " << static_cast<int>(self) << " target "
                << static_cast<int>(target) << " outputs " << static_cast<int>(mask);
          }
        }
      }
    }
  }
}

TEST_F(ViewTest, LongStridedRowsHaveTheBitsOfContiguousOnes) {
  const Batch batch = MakeBatch(kFloat16, 2, 70'001, Density::kFew, Spread::kOrdinary, 4);
  CallShape shape;
  const LossResult contiguous = RunLoss(batch, shape);
  for (const ViewKind kind : kAllViewKinds) {
    shape.self_view = shape.target_view = shape.mask_view = kind;
    EXPECT_EQ(RunLoss(batch, shape), contiguous) << static_cast<int>(kind);
  }
}

TEST_F(ViewTest, OneDimensionalViewsMayBeStepped) {
  const Batch batch = MakeBatch(kBFloat16, 1, 33, Density::kHalf, Spread::kOrdinary, 5);
  CallShape shape;
  shape.rank = 1;
  shape.reduction = 2;
  shape.target_type = ACL_INT32;
  const LossResult contiguous = RunLoss(batch, shape);
  shape.self_view = shape.target_view = shape.mask_view = shape.out_view = ViewKind::kStepped;
  EXPECT_EQ(RunLoss(batch, shape), contiguous);
}

TEST_F(ViewTest, DataNeedsNoAlignment) {
  for (const FloatFormat& format : {kFloat32, kFloat16}) {
    const Batch batch = MakeBatch(format, 3, 101, Density::kFew, Spread::kOrdinary, 6);
    CallShape shape;
    const LossResult aligned = RunLoss(batch, shape);
    for (const size_t misalignment : std::initializer_list<size_t>{1, 2, 3, 4, 31}) {
      shape.misalignment = misalignment;
      EXPECT_EQ(RunLoss(batch, shape), aligned) << misalignment;
    }
  }
}

TEST_F(ViewTest, ARowExpandedWithStrideZeroCountsForEachRow) {
  const int64_t shape[] = {3, 3}, expanded[] = {0, 1}, storage[] = {3};
  const View row{{3}, {1}, 0};
  DeviceTensor self(row, ACL_FLOAT), target(row, ACL_INT64);
  self.Write(
      {std::bit_cast<int32_t>(0.5f), std::bit_cast<int32_t>(0.25f), std::bit_cast<int32_t>(-0.5f)});
  target.Write({0, -1, -1});
  DeviceTensor out(View{{3}, {1}, 0}, ACL_FLOAT);
  DeviceTensor mask(MakeView({3, 3}, ViewKind::kContiguous), ACL_FLOAT);
  aclTensor* const self_view =
      aclCreateTensor(shape, 2, ACL_FLOAT, expanded, 0, ACL_FORMAT_ND, storage, 1, self.data());
  aclTensor* const target_view =
      aclCreateTensor(shape, 2, ACL_INT64, expanded, 0, ACL_FORMAT_ND, storage, 1, target.data());
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(self_view, target_view, 0, out.handle(),
                                                      mask.handle(), &bytes, &executor),
            0)
      << TakeMessage();
  ASSERT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, executor, nullptr), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(out.Read(), std::vector<uint32_t>(3, std::bit_cast<uint32_t>(0.25f)));
  EXPECT_EQ(aclDestroyTensor(self_view), 0);
  EXPECT_EQ(aclDestroyTensor(target_view), 0);
}

TEST_F(ViewTest, NullStridesMeanContiguous) {
  const int64_t shape[] = {2, 3};
  const View flat{{6}, {1}, 0};
  DeviceTensor self(flat, ACL_FLOAT), target(flat, ACL_INT32), mask(flat, ACL_FLOAT);
  DeviceTensor out(View{{2}, {1}, 0}, ACL_FLOAT);
  self.Write(std::vector<int64_t>(6, 0));
  target.Write({0, -1, 0, 1, 2, -1});
  aclTensor* tensors[3];
  const DeviceTensor* const sources[] = {&self, &target, &mask};
  for (int i = 0; i < 3; ++i) {
    tensors[i] = aclCreateTensor(shape, 2, i == 1 ? ACL_INT32 : ACL_FLOAT, nullptr, 0,
                                 ACL_FORMAT_ND, shape, 2, sources[i]->data());
  }
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(tensors[0], tensors[1], 0, out.handle(),
                                                      tensors[2], &bytes, &executor),
            0)
      << TakeMessage();
  ASSERT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, executor, nullptr), 0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  const uint32_t two_thirds = std::bit_cast<uint32_t>(2.0f / 3.0f);
  EXPECT_EQ(out.Read(), (std::vector<uint32_t>{two_thirds, two_thirds}));
  for (aclTensor* tensor : tensors) EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

// self and isTarget as the even and odd columns of one matrix share no byte.
TEST_F(ViewTest, InterleavedTensorsOfOneBufferWork) {
  const Batch batch = MakeBatch(kFloat32, 5, 9, Density::kFew, Spread::kOrdinary, 7);
  const LossResult expected = RunLoss(batch, CallShape());
  const View even{{5, 9}, {18, 2}, 0}, odd{{5, 9}, {18, 2}, 1};
  DeviceTensor both(View{{90}, {1}, 0}, ACL_FLOAT);
  std::vector<int64_t> values(90, 0x7FC00000);
  for (int64_t k = 0; k < 45; ++k) {
    values[static_cast<size_t>(even.IndexOf(k))] = batch.scores[static_cast<size_t>(k)];
  }
  both.Write(values);
  DeviceTensor target(MakeView({5, 9}, ViewKind::kContiguous), ACL_INT64);
  target.Write(batch.labels);
  DeviceTensor out(View{{5}, {1}, 0}, ACL_FLOAT);
  const int64_t storage[] = {90};
  const auto view_of = [&](const View& view) {
    return aclCreateTensor(view.shape.data(), 2, ACL_FLOAT, view.strides.data(), view.offset,
                           ACL_FORMAT_ND, storage, 1, both.data());
  };
  aclTensor* const self = view_of(even);
  aclTensor* const mask = view_of(odd);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(self, target.handle(), 0, out.handle(), mask,
                                                      &bytes, &executor),
            0)
      << TakeMessage();
  ASSERT_EQ(aclnnMultilabelMarginLoss(nullptr, 0, executor, nullptr), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(out.Read(), expected.losses);
  const std::vector<uint32_t> after = both.Read();
  for (int64_t k = 0; k < 45; ++k) {
    EXPECT_EQ(after[static_cast<size_t>(odd.IndexOf(k))], expected.mask[static_cast<size_t>(k)]);
    EXPECT_EQ(after[static_cast<size_t>(even.IndexOf(k))], batch.scores[static_cast<size_t>(k)]);
  }
  EXPECT_EQ(aclDestroyTensor(self), 0);
  EXPECT_EQ(aclDestroyTensor(mask), 0);
}

}  // namespace
}  // namespace mlmargin::testing
