// SPDX-License-Identifier: Apache-2.0
#include "kernel/label_list.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace mlmargin::kernel {
namespace {

template <typename T>
LabelRow RowOf(const std::vector<T>& labels, int64_t stride = 1) {
  return {labels.data(), stride, static_cast<int64_t>(labels.size()) / stride,
          sizeof(T) == 4 ? LabelType::kInt32 : LabelType::kInt64};
}

std::vector<int64_t> Classes(const LabelList& list) {
  return std::vector<int64_t>(list.classes(), list.classes() + list.size());
}

TEST(LabelListTest, EndsAtTheFirstMinusOneAndKeepsOrderAndRepeats) {
  const std::vector<int64_t> labels = {3, 0, 3, -1, 2, 99};
  const std::vector<float> scores(6, 0.5f);
  LabelList list;
  BadLabels bad;
  ASSERT_TRUE(list.Read(RowOf(labels), scores.data(), 1, ScoreType::kFloat32, 0, 6, &bad));
  EXPECT_EQ(Classes(list), (std::vector<int64_t>{3, 0, 3}));
  EXPECT_EQ(bad.count, 0);
}

TEST(LabelListTest, SkipsAndCountsLabelsOutOfRangeInBothTypes) {
  const std::vector<float> scores(3, 0.0f);
  LabelList list;
  BadLabels bad;
  const std::vector<int32_t> narrow = {1, -2, std::numeric_limits<int32_t>::min(), 3, 2, -1};
  ASSERT_TRUE(list.Read(RowOf(narrow), scores.data(), 1, ScoreType::kFloat32, 4, 3, &bad));
  EXPECT_EQ(Classes(list), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(bad.count, 3);
  EXPECT_EQ(bad.row, 4);
  EXPECT_EQ(bad.column, 1);
  EXPECT_EQ(bad.value, -2);
  // Beyond 32 bits: cut to 32 these would be the classes 0 and 1, and -1.
  const std::vector<int64_t> wide = {int64_t{1} << 32, (int64_t{1} << 32) + 1, 0xFFFFFFFF, 0, -1};
  bad = BadLabels();
  ASSERT_TRUE(list.Read(RowOf(wide), scores.data(), 1, ScoreType::kFloat32, 0, 3, &bad));
  EXPECT_EQ(Classes(list), (std::vector<int64_t>{0}));
  EXPECT_EQ(bad.count, 3);
}

TEST(LabelListTest, StridesAndZeroStrideAreFollowed) {
  const std::vector<int64_t> labels = {1, 7, 0, 7, -1, 7};
  const std::vector<float> scores = {10, -1, 20, -1};
  LabelList list;
  BadLabels bad;
  ASSERT_TRUE(list.Read(RowOf(labels, 2), scores.data(), 2, ScoreType::kFloat32, 0, 2, &bad));
  EXPECT_EQ(Classes(list), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(list.high()[0], 1.0 - 20);
  EXPECT_EQ(list.high()[1], 1.0 - 10);
}

TEST(LabelListTest, ThresholdIsExactAsASumOfTwo) {
  const std::vector<int64_t> labels = {0, 1};
  const std::vector<float> scores = {1e-30f, 0x1.000002p0f};
  LabelList list;
  BadLabels bad;
  ASSERT_TRUE(list.Read(RowOf(labels), scores.data(), 1, ScoreType::kFloat32, 0, 2, &bad));
  EXPECT_EQ(list.high()[0], 1.0);
  EXPECT_EQ(list.low()[0], -static_cast<double>(1e-30f));
  EXPECT_EQ(list.low()[1], 0.0);
  EXPECT_TRUE(list.any_low());
}

TEST(LabelListTest, ALongListGrowsOnceAndAShortOneFollows) {
  std::vector<int32_t> labels(1000);
  for (int32_t i = 0; i < 1000; ++i) labels[static_cast<size_t>(i)] = 999 - i;
  const std::vector<float> scores(1000, 2.0f);
  LabelList list;
  BadLabels bad;
  ASSERT_TRUE(list.Read(RowOf(labels), scores.data(), 1, ScoreType::kFloat32, 0, 1000, &bad));
  EXPECT_EQ(list.size(), 1000);
  EXPECT_EQ(list.classes()[999], 0);
  EXPECT_EQ(list.high()[999], -1.0);
  labels[2] = -1;
  ASSERT_TRUE(list.Read(RowOf(labels), scores.data(), 1, ScoreType::kFloat32, 0, 1000, &bad));
  EXPECT_EQ(Classes(list), (std::vector<int64_t>{999, 998}));
}

TEST(LabelListTest, TheFirstPositionOfMergedFindingsIsKept) {
  BadLabels first{2, 5, 1, 77};
  MergeBadLabels(BadLabels{3, 2, 0, -9}, &first);
  EXPECT_EQ(first.count, 5);
  EXPECT_EQ(first.row, 2);
  EXPECT_EQ(first.value, -9);
  MergeBadLabels(BadLabels{1, 8, 0, 4}, &first);
  MergeBadLabels(BadLabels(), &first);
  EXPECT_EQ(first.count, 6);
  EXPECT_EQ(first.row, 2);
}

}  // namespace
}  // namespace mlmargin::kernel
