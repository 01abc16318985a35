// SPDX-License-Identifier: Apache-2.0
// A batch computed some rows at a time has the bits of the whole one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernel/typed_problem.h"
#include "mlmargin/multilabel_margin_loss.h"
#include "mlmargin/sharded_loss.h"

namespace mlmargin::testing {
namespace {

using Bytes = std::vector<unsigned char>;

struct Batch {
  ScoreType type;
  int64_t rows, classes, label_columns;
  Bytes scores;
  std::vector<int64_t> labels;

  size_t RowBytes() const { return static_cast<size_t>(classes) * TypeBytes(type); }
};

Batch RandomBatch(ScoreType type, int64_t rows, int64_t classes, int64_t label_columns) {
  Batch batch{type, rows, classes, label_columns, {}, {}};
  std::mt19937_64 random(static_cast<uint64_t>(rows * 1000 + classes));
  std::normal_distribution<double> score;
  batch.scores.resize(static_cast<size_t>(rows) * batch.RowBytes());
  for (size_t at = 0; at < batch.scores.size(); at += TypeBytes(type)) {
    EncodeValue(type, Representable(type, score(random)), &batch.scores[at]);
  }
  for (int64_t i = 0; i < rows * label_columns; ++i) {
    batch.labels.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(classes)));
  }
  return batch;
}

struct Results {
  Bytes loss, gradient;
  std::vector<double> row_losses;
};

// The rows from `begin` on, into their places in `results`.
void RunRows(Batch& batch, int64_t begin, int64_t rows, int64_t mean_rows, Reduction reduction,
             Results* results) {
  const auto first = static_cast<size_t>(begin);
  LossArguments args;
  args.rows = rows;
  args.classes = batch.classes;
  args.score_type = batch.type;
  args.reduction = reduction;
  args.mean_rows = mean_rows;
  args.scores = {batch.scores.data() + first * batch.RowBytes(), batch.classes, 1};
  args.labels = {batch.labels.data() + begin * batch.label_columns, batch.label_columns, 1};
  args.label_columns = batch.label_columns;
  args.loss = results->loss.data();
  args.grad_scores = {results->gradient.data() + first * batch.RowBytes(), batch.classes, 1};
  args.row_losses =
      results->row_losses.data() + first * static_cast<size_t>(SumsPerPart(batch.type));
  ASSERT_TRUE(MultilabelMarginLoss(args, nullptr).ok());
}

Results EmptyResults(const Batch& batch) {
  const auto sums = static_cast<size_t>(batch.rows) * static_cast<size_t>(SumsPerPart(batch.type));
  return {Bytes(TypeBytes(batch.type)), Bytes(batch.scores.size()), std::vector<double>(sums)};
}

class BatchPiecesTest : public ::testing::TestWithParam<ScoreType> {};
INSTANTIATE_TEST_SUITE_P(Types, BatchPiecesTest, ::testing::ValuesIn(kAllTypes),
                         [](const auto& type) { return TypeName(type.param); });

TEST_P(BatchPiecesTest, HaveTheBitsOfTheWhole) {
  for (const auto& [rows, classes, labels] :
       {std::array<int64_t, 3>{37, 7, 2}, std::array<int64_t, 3>{11, 3000, 5},
        std::array<int64_t, 3>{5, 400, 100}}) {
    for (const Reduction reduction : {Reduction::kMean, Reduction::kSum}) {
      Batch batch = RandomBatch(GetParam(), rows, classes, labels);
      Results whole = EmptyResults(batch), pieces = EmptyResults(batch);
      RunRows(batch, 0, rows, 0, reduction, &whole);
      constexpr int64_t kPiece = 4;
      for (int64_t begin = 0; begin < rows; begin += kPiece) {
        RunRows(batch, begin, std::min(kPiece, rows - begin), rows, reduction, &pieces);
      }
      ASSERT_TRUE(ReduceParts(pieces.row_losses.data(), rows, 1, classes, GetParam(), reduction,
                              pieces.loss.data())
                      .ok());
      EXPECT_EQ(pieces.loss, whole.loss) << rows << " x " << classes;
      EXPECT_EQ(pieces.gradient, whole.gradient) << rows << " x " << classes;
    }
  }
}

// Scores all 0: every pair has a hinge of 1.
TEST_P(BatchPiecesTest, AMeanIsOfTheRowsThatItIsToldOf) {
  Batch batch{GetParam(), 1, 4, 1, Bytes(4 * TypeBytes(GetParam())), {0}};
  Results results = EmptyResults(batch);
  RunRows(batch, 0, 1, 8, Reduction::kMean, &results);
  EXPECT_EQ(DecodeValue(GetParam(), results.loss.data()), 3.0 / 4 / 8);
  EXPECT_EQ(DecodeValue(GetParam(), results.gradient.data()), -3.0 / 4 / 8);
  EXPECT_EQ(DecodeValue(GetParam(), results.gradient.data() + TypeBytes(GetParam())), 1.0 / 4 / 8);
  EXPECT_EQ(results.row_losses[0], 3.0);
}

TEST(BatchPiecesErrorTest, ABatchIsNoSmallerThanItsPieceAndNoLargerThanADoubleCounts) {
  const std::array<float, 6> scores = {};
  float loss = 7;
  LossArguments args;
  args.rows = 2;
  args.classes = 3;
  args.scores = {scores.data(), 3, 1};
  args.loss = &loss;
  const int64_t most = (int64_t{1} << 53) / 3;
  for (const int64_t mean_rows : {int64_t{-1}, int64_t{1}, most + 1, INT64_MAX}) {
    args.mean_rows = mean_rows;
    const Status status = MultilabelMarginLoss(args, nullptr);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << mean_rows;
    EXPECT_EQ(status.message(),
              "mean_rows must be 0, or from the number of rows, 2, to 2^53 / classes, "
              "3002399751580330, got " +
                  std::to_string(mean_rows));
    EXPECT_EQ(loss, 7.0F);
  }
  for (const int64_t mean_rows : {int64_t{2}, most}) {
    args.mean_rows = mean_rows;
    EXPECT_TRUE(MultilabelMarginLoss(args, nullptr).ok()) << mean_rows;
  }
}

TEST(BatchPiecesErrorTest, NoRowsOfSomeAddNothing) {
  float loss = 7;
  LossArguments args;
  args.classes = 1;
  args.mean_rows = 3;
  args.loss = &loss;
  ASSERT_TRUE(MultilabelMarginLoss(args, nullptr).ok());
  EXPECT_EQ(loss, 0.0F);
  args.mean_rows = 0;
  ASSERT_TRUE(MultilabelMarginLoss(args, nullptr).ok());
  EXPECT_TRUE(std::isnan(loss));
}

}  // namespace
}  // namespace mlmargin::testing
