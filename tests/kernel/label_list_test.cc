// SPDX-License-Identifier: Apache-2.0
#include "kernel/label_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace mlmargin::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

template <typename T>
LabelRow RowOf(const std::vector<T>& labels, int64_t stride = 1) {
  return {labels.data(), stride, static_cast<int64_t>(labels.size()) / stride,
          sizeof(T) == 4 ? LabelType::kInt32 : LabelType::kInt64};
}

ScoreRow ScoresOf(const std::vector<float>& scores, int64_t stride = 1) {
  return {scores.data(), stride, static_cast<int64_t>(scores.size()) / stride, ScoreType::kFloat32};
}

// Of a row of one slice.
std::vector<int64_t> Classes(const LabelList& list) {
  const auto classes = list.ClassesNear(0);
  return std::vector<int64_t>(classes.begin(), classes.end());
}

std::vector<float> Scores(const LabelList& list) {
  return std::vector<float>(list.scores().begin(), list.scores().end());
}

TEST(LabelListTest, EndsAtTheFirstMinusOneAndKeepsRepeats) {
  const std::vector<int64_t> labels = {3, 0, 3, -1, 2, 99};
  const std::vector<float> scores = {0, 1, 2, 3, 4, 5};
  LabelList list;
  BadLabels bad;
  ASSERT_TRUE(list.Read(RowOf(labels), ScoresOf(scores), 0, &bad));
  EXPECT_THAT(Classes(list), ElementsAre(3, 0, 3));
  EXPECT_THAT(Scores(list), ElementsAre(3, 0, 3));
  EXPECT_EQ(bad.count, 0);
}

TEST(LabelListTest, SkipsAndCountsLabelsOutOfRangeInBothTypes) {
  const std::vector<float> scores(3, 0.0f);
  LabelList list;
  BadLabels bad;
  const std::vector<int32_t> narrow = {1, -2, std::numeric_limits<int32_t>::min(), 3, 2, -1};
  ASSERT_TRUE(list.Read(RowOf(narrow), ScoresOf(scores), 4, &bad));
  EXPECT_THAT(Classes(list), ElementsAre(1, 2));
  EXPECT_EQ(bad.count, 3);
  EXPECT_EQ(bad.row, 4);
  EXPECT_EQ(bad.column, 1);
  EXPECT_EQ(bad.value, -2);
  // Beyond 32 bits: cut to 32 these would be the classes 0 and 1, and -1.
  const std::vector<int64_t> wide = {int64_t{1} << 32, (int64_t{1} << 32) + 1, 0xFFFFFFFF, 0, -1};
  bad = BadLabels();
  ASSERT_TRUE(list.Read(RowOf(wide), ScoresOf(scores), 0, &bad));
  EXPECT_THAT(Classes(list), ElementsAre(0));
  EXPECT_EQ(bad.count, 3);
}

TEST(LabelListTest, StridesAreFollowed) {
  const std::vector<int64_t> labels = {1, 7, 0, 7, -1, 7};
  const std::vector<float> scores = {10, -1, 20, -1};
  LabelList list;
  BadLabels bad;
  ASSERT_TRUE(list.Read(RowOf(labels, 2), ScoresOf(scores, 2), 0, &bad));
  EXPECT_THAT(Classes(list), ElementsAre(1, 0));
  EXPECT_THAT(Scores(list), ElementsAre(20, 10));
}

TEST(LabelListTest, OnlyScoresThatAHingeCanBePositiveForAreKept) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<int64_t> labels = {0, 1, 2, 3};
  LabelList list;
  BadLabels bad;
  ASSERT_TRUE(list.Read(RowOf(labels), ScoresOf({nan, 2, inf, -3}), 0, &bad));
  EXPECT_EQ(list.size(), 4);
  EXPECT_THAT(Scores(list), ElementsAre(2, -3));
  EXPECT_FALSE(list.any_infinite());
  ASSERT_TRUE(list.Read(RowOf(labels), ScoresOf({nan, 2, -inf, -inf}), 0, &bad));
  EXPECT_THAT(Scores(list), ElementsAre(2, -inf, -inf));
  EXPECT_TRUE(list.any_infinite());
  ASSERT_TRUE(list.Read(RowOf(labels), ScoresOf({nan, inf, nan, inf}), 0, &bad));
  EXPECT_TRUE(list.scores().empty());
}

TEST(LabelListTest, ManyLabelsAmongFewClassesAreBits) {
  constexpr int64_t kClasses = 200;
  std::vector<float> scores(kClasses);
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<float>(i);
  std::vector<int64_t> labels = {199, 64, 63, 0, 64, 200, -7};
  std::vector<float> label_scores = {199, 64, 63, 0, 64};
  std::vector<uint64_t> bits((kClasses + 63) / 64 + 1);
  for (const size_t label : {199u, 64u, 63u, 0u}) bits[label / 64] |= uint64_t{1} << (label % 64);
  for (int64_t label = 100; label < 170; ++label) {
    labels.push_back(label);
    label_scores.push_back(static_cast<float>(label));
    const auto index = static_cast<size_t>(label);
    bits[index / 64] |= uint64_t{1} << (index % 64);
  }
  LabelList list;
  BadLabels bad;
  ASSERT_TRUE(list.Read(RowOf(labels), ScoresOf(scores), 3, &bad));
  ASSERT_TRUE(list.dense());
  EXPECT_EQ(std::vector<uint64_t>(list.bits(), list.bits() + bits.size()), bits);
  EXPECT_EQ(Scores(list), label_scores);
  EXPECT_EQ(list.size(), 75);
  EXPECT_EQ(bad.count, 2);
  EXPECT_EQ(bad.column, 5);
  EXPECT_EQ(bad.value, 200);
  // Fewer labels in the next row leave no bits behind.
  labels.resize(70);
  ASSERT_TRUE(list.Read(RowOf(labels), ScoresOf(scores), 4, &bad));
  ASSERT_TRUE(list.dense());
  EXPECT_EQ(list.bits()[2], bits[2] & ~(~uint64_t{0} << (163 - 128)));
  // And few labels are a list again.
  ASSERT_TRUE(list.Read(RowOf<int64_t>({5, 4, -1}), ScoresOf(scores), 5, &bad));
  EXPECT_FALSE(list.dense());
  EXPECT_THAT(Classes(list), ElementsAre(5, 4));
}

// As many classes as bits are kept for, the last one a label; and one more.
TEST(LabelListTest, BitsAreKeptForUpToSixtyFourClassesALabel) {
  for (const int64_t classes : {int64_t{65} * 64, int64_t{65} * 64 + 1}) {
    std::vector<int64_t> labels;
    for (int64_t l = 0; l < 65; ++l) labels.push_back(classes - 1 - l);
    const std::vector<float> scores(static_cast<size_t>(classes), 2.0f);
    LabelList list;
    BadLabels bad;
    ASSERT_TRUE(list.Read(RowOf(labels), ScoresOf(scores), 0, &bad));
    EXPECT_EQ(list.dense(), classes == 65 * 64);
    EXPECT_EQ(list.size(), 65);
    if (!list.dense()) continue;
    EXPECT_EQ(list.bits()[64], ~uint64_t{0});
    EXPECT_EQ(list.bits()[63], uint64_t{1} << 63);
    EXPECT_EQ(list.bits()[65], 0u);
  }
}

TEST(LabelListTest, ALongListIsSortedBySliceAndAShortOneMayFollow) {
  constexpr int32_t kClasses = 100 * LabelList::kSliceClasses + 5;
  std::vector<int32_t> labels;
  for (int32_t i = 0; i < 1000; ++i) labels.push_back((i * 7919) % kClasses);
  labels.push_back(labels[500]);
  std::vector<float> scores(kClasses);
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<float>(i);
  LabelList list;
  BadLabels bad;
  ASSERT_TRUE(list.Read(RowOf(labels), ScoresOf(scores), 0, &bad));
  EXPECT_EQ(list.size(), 1001);
  std::vector<int32_t> found;
  for (int64_t begin = 0; begin < kClasses; begin += LabelList::kSliceClasses) {
    for (const int64_t label : list.ClassesNear(begin)) {
      EXPECT_GE(label, begin);
      EXPECT_LT(label, begin + LabelList::kSliceClasses);
      found.push_back(static_cast<int32_t>(label));
    }
  }
  EXPECT_THAT(found, UnorderedElementsAreArray(labels));
  EXPECT_THAT(Scores(list),
              UnorderedElementsAreArray(std::vector<float>(labels.begin(), labels.end())));
  labels[2] = -1;
  ASSERT_TRUE(list.Read(RowOf(labels), ScoresOf(scores), 0, &bad));
  EXPECT_THAT(Classes(list), ElementsAre(0, 7919));
}

// More blocks of classes than slices: a slice has several.
TEST(LabelListTest, SlicesGrowWithTheRow) {
  constexpr int64_t kClasses = 5'000'000;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < 100; ++i) labels.push_back(i * 49'999);
  const float score = 1;
  LabelList list;
  BadLabels bad;
  ASSERT_TRUE(list.Read(RowOf(labels), {&score, 0, kClasses, ScoreType::kFloat32}, 0, &bad));
  for (const int64_t label : labels) {
    const auto near = list.ClassesNear(label / LabelList::kSliceClasses * LabelList::kSliceClasses);
    EXPECT_EQ(std::count(near.begin(), near.end(), label), 1);
    EXPECT_LT(near.size(), 3u);
  }
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
