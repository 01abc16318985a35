// SPDX-License-Identifier: Apache-2.0
// Sizes beyond 32 bits, and memory that is not to be had.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "mlmargin/multilabel_margin_loss.h"
#include "support/sanitizers.h"

// Sanitizers bring allocators of their own, and take minutes for these sizes.
#ifndef MLMARGIN_SANITIZED

#include "support/refuse_arrays.h"

namespace mlmargin {
namespace {

// One score for all classes by stride 0: label `classes` - 1 has a hinge of 1 against each other.
TEST(LimitsTest, MoreThanTwoToThe31ClassesInOneRow) {
  const uint16_t score = 0;
  const std::vector<int64_t> labels = {(int64_t{1} << 31) + 8, -1};
  LossArguments call;
  call.rows = 1;
  call.classes = (int64_t{1} << 31) + 9;
  call.score_type = ScoreType::kFloat16;
  call.reduction = Reduction::kNone;
  call.scores = {&score, 0, 0};
  call.labels = {labels.data(), 0, 1};
  call.label_columns = 2;
  uint16_t half = 0;
  call.loss = &half;
  ASSERT_TRUE(MultilabelMarginLoss(call, nullptr).ok());
  EXPECT_EQ(half, 0x3C00);  // (C - 1) / C rounds to 1.
}

TEST(LimitsTest, MoreThanTwoToThe31ElementsInManyRows) {
  constexpr int64_t kRows = 1100, kClasses = 2'000'000;
  const float scores[] = {0.0f};
  const int32_t labels[] = {kClasses - 1, -1};
  std::vector<double> row_losses(kRows);
  float loss = 0;
  LossArguments call;
  call.rows = kRows;
  call.classes = kClasses;
  call.label_type = LabelType::kInt32;
  call.reduction = Reduction::kSum;
  call.scores = {scores, 0, 0};
  call.labels = {labels, 0, 1};
  call.label_columns = 2;
  call.loss = &loss;
  call.row_losses = row_losses.data();
  ASSERT_TRUE(MultilabelMarginLoss(call, nullptr).ok());
  EXPECT_EQ(loss, static_cast<float>(1100.0 * (kClasses - 1) / kClasses));
}

TEST(LimitsTest, NoMemoryForARowsLabelsIsAnErrorAndTheNextCallWorks) {
  constexpr int64_t kClasses = 5000;
  const std::vector<float> scores(kClasses, 0.0f);
  std::vector<int32_t> labels(kClasses);
  for (int32_t i = 0; i < kClasses; ++i) labels[static_cast<size_t>(i)] = i;
  float loss = -1;
  LossArguments call;
  call.rows = 1;
  call.classes = kClasses;
  call.label_type = LabelType::kInt32;
  call.reduction = Reduction::kNone;
  call.scores = {scores.data(), 0, 1};
  call.labels = {labels.data(), 0, 1};
  call.label_columns = kClasses;
  call.loss = &loss;
  refuse_large_arrays = true;
  const Status status = MultilabelMarginLoss(call, nullptr);
  refuse_large_arrays = false;
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(loss, -1.0f);
  ASSERT_TRUE(MultilabelMarginLoss(call, nullptr).ok());
  EXPECT_EQ(loss, 0.0f);
}

}  // namespace
}  // namespace mlmargin

#endif  // MLMARGIN_SANITIZED
