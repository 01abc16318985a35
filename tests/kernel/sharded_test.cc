// SPDX-License-Identifier: Apache-2.0
// Rows whose classes are spread over shards, put together as the header says, against whole rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "kernel_run.h"
#include "mlmargin/sharded_loss.h"
#include "typed_problem.h"

namespace mlmargin::testing {
namespace {

// The scores of a problem as bytes, and its labels padded to as many columns as the longest list.
struct Batched {
  std::vector<unsigned char> scores;
  std::vector<int64_t> labels;
  std::vector<unsigned char> label_scores;  // Of each entry; junk for what is no label.
  std::vector<unsigned char> grad_loss;
  int64_t columns = 0;

  explicit Batched(const Problem& problem) {
    const size_t bytes = TypeBytes(problem.type);
    for (const auto& row : problem.labels) {
      columns = std::max(columns, static_cast<int64_t>(row.size()) + 1);
    }
    for (size_t n = 0; n < problem.scores.size(); ++n) {
      for (const double score : problem.scores[n]) Append(problem.type, score, &scores);
      for (size_t k = 0; k < static_cast<size_t>(columns); ++k) {
        const bool listed = k < problem.labels[n].size();
        const int64_t label = listed                          ? problem.labels[n][k]
                              : k == problem.labels[n].size() ? -1
                                                              : 3;
        labels.push_back(label);
        const bool is_class = listed && label >= 0 && label < problem.classes;
        Append(problem.type, is_class ? problem.scores[n][static_cast<size_t>(label)] : 77,
               &label_scores);
      }
      Append(problem.type, problem.grad_loss.empty() ? 1 : problem.grad_loss[n], &grad_loss);
    }
    EXPECT_EQ(scores.size() % bytes, 0u);
  }

  static void Append(ScoreType type, double value, std::vector<unsigned char>* to) {
    to->resize(to->size() + TypeBytes(type));
    EncodeValue(type, value, to->data() + to->size() - TypeBytes(type));
  }
};

ShardArguments ShardOf(const Problem& problem, Batched* batched, int64_t first, int64_t size) {
  ShardArguments shard;
  shard.rows = problem.rows();
  shard.classes = problem.classes;
  shard.first_class = first;
  shard.shard_classes = size;
  shard.score_type = problem.type;
  shard.reduction = problem.reduction;
  const auto skipped = static_cast<size_t>(std::max<int64_t>(first, 0));
  shard.scores = {batched->scores.data() + skipped * TypeBytes(problem.type), problem.classes, 1};
  shard.labels = {batched->labels.data(), batched->columns, 1};
  shard.label_columns = batched->columns;
  shard.label_scores = {batched->label_scores.data(), batched->columns, 1};
  return shard;
}

// Loss and gradient from the shards [begins[s], begins[s + 1]).
ProblemResult RunShards(const Problem& problem, const std::vector<int64_t>& begins) {
  Batched batched(problem);
  const size_t bytes = TypeBytes(problem.type);
  const auto rows = static_cast<size_t>(problem.rows());
  const auto doubles = static_cast<size_t>(SumsPerPart(problem.type));
  const size_t num_shards = begins.size() - 1;
  std::vector<std::vector<double>> sums(num_shards);
  std::vector<size_t> parts(num_shards);
  std::vector<int64_t> counts(rows * static_cast<size_t>(batched.columns));
  ProblemResult result;
  for (size_t s = 0; s < num_shards; ++s) {
    const ShardArguments shard = ShardOf(problem, &batched, begins[s], begins[s + 1] - begins[s]);
    parts[s] = static_cast<size_t>(NumParts(problem.classes, shard.shard_classes));
    sums[s].resize(rows * parts[s] * doubles);
    std::vector<int64_t> own_counts(counts.size(), -5);
    const Status status = SumShard(shard, sums[s].data(), own_counts.data(), &result.bad_labels);
    EXPECT_TRUE(status.ok()) << status.message();
    std::transform(counts.begin(), counts.end(), own_counts.begin(), counts.begin(), std::plus());
  }
  std::vector<double> all;
  for (size_t n = 0; n < rows; ++n) {
    for (size_t s = 0; s < num_shards; ++s) {
      const auto row = sums[s].begin() + static_cast<std::ptrdiff_t>(n * parts[s] * doubles);
      all.insert(all.end(), row, row + static_cast<std::ptrdiff_t>(parts[s] * doubles));
    }
  }
  result.loss.resize((problem.reduction == Reduction::kNone ? rows : 1) * bytes);
  const auto num_parts = std::accumulate(parts.begin(), parts.end(), size_t{0});
  EXPECT_TRUE(ReduceParts(all.data(), problem.rows(), static_cast<int64_t>(num_parts),
                          problem.classes, problem.type, problem.reduction, result.loss.data())
                  .ok());
  result.gradient.resize(batched.scores.size(), 0xA5);
  for (size_t s = 0; s < num_shards; ++s) {
    const ShardArguments shard = ShardOf(problem, &batched, begins[s], begins[s + 1] - begins[s]);
    unsigned char* const first = result.gradient.data() + static_cast<size_t>(begins[s]) * bytes;
    EXPECT_TRUE(
        GradientOfShard(shard, counts.data(), batched.grad_loss.data(), {first, problem.classes, 1})
            .ok());
  }
  return result;
}

TEST(ShardedLossTest, ShardsOfWholePartsHaveTheBitsOfTheWhole) {
  uint64_t seed = 70;
  for (const ScoreType type : kAllTypes) {
    for (const Density density : {Density::kFew, Density::kHalf, Density::kNone}) {
      Problem problem = MakeProblem(type, 3, 40'000, density, Spread::kOrdinary, ++seed);
      problem.labels[1] = {0, 39'999, 16'384, 16'384, -7, 40'000};
      for (const Reduction reduction : {Reduction::kNone, Reduction::kMean, Reduction::kSum}) {
        problem.reduction = reduction;
        const ProblemResult whole = RunProblem(problem);
        const int64_t part = PartClasses(problem.classes);
        ASSERT_EQ(part, 16'384);
        for (const std::vector<int64_t>& begins : {std::vector<int64_t>{0, 40'000},
                                                   {0, part, 40'000},
                                                   {0, part, part, 2 * part, 40'000}}) {
          const ProblemResult sharded = RunShards(problem, begins);
          EXPECT_EQ(sharded.loss, whole.loss) << problem.Name();
          EXPECT_EQ(sharded.gradient, whole.gradient) << problem.Name();
          EXPECT_EQ(sharded.bad_labels.count, whole.bad_labels.count);
          EXPECT_EQ(sharded.bad_labels.row, whole.bad_labels.row);
          EXPECT_EQ(sharded.bad_labels.column, whole.bad_labels.column);
          EXPECT_EQ(sharded.bad_labels.value, whole.bad_labels.value);
        }
      }
    }
  }
}

TEST(ShardedLossTest, AnyShardsGiveTheGradientAndNearlyTheLoss) {
  uint64_t seed = 90;
  for (const ScoreType type : kAllTypes) {
    for (const int64_t classes : {3, 100, 500, 20'000}) {
      for (const Density density : {Density::kFew, Density::kHalf, Density::kAll}) {
        Problem problem = MakeProblem(type, 2, classes, density, Spread::kOrdinary, ++seed);
        problem.reduction = static_cast<Reduction>(seed % 3);
        const ProblemResult whole = RunProblem(problem);
        const ProblemResult sharded = RunShards(problem, {0, 1, 1, classes / 2 + 1, classes});
        EXPECT_EQ(sharded.gradient, whole.gradient) << problem.Name();
        for (size_t i = 0; i < whole.loss.size(); i += TypeBytes(type)) {
          const double expected = DecodeValue(type, whole.loss.data() + i);
          EXPECT_NEAR(DecodeValue(type, sharded.loss.data() + i), expected, UlpOf(type, expected))
              << problem.Name();
        }
      }
    }
  }
}

// In the order in which the labels were read nothing shows: lists that are sorted by slices, of
// which few scores are left to compare with.
TEST(ShardedLossTest, ListsWithFewFiniteScoresHaveTheBitsOfTheWhole) {
  std::mt19937 random(4);
  for (int turn = 0; turn < 10; ++turn) {
    Problem problem = MakeProblem(ScoreType::kFloat32, 1, 40'000, Density::kNone, Spread::kWide, 7);
    for (int k = 0; k < 100; ++k) {
      const auto label = static_cast<int64_t>(random() % 40'000);
      problem.labels[0].push_back(label);
      if (k % 3 != 0) {
        problem.scores[0][static_cast<size_t>(label)] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    EXPECT_EQ(RunShards(problem, {0, 16'384, 40'000}).loss, RunProblem(problem).loss);
  }
}

TEST(ShardedLossTest, AnEmptyShardNeedsNoScores) {
  Problem problem = MakeProblem(ScoreType::kFloat32, 3, 10, Density::kFew, Spread::kOrdinary, 1);
  for (const ScoreType type : kAllTypes) {
    problem.type = type;
    Batched batched(problem);
    ShardArguments shard = ShardOf(problem, &batched, 4, 0);
    shard.scores.data = nullptr;
    std::vector<int64_t> counts(static_cast<size_t>(3 * batched.columns), -1);
    ASSERT_TRUE(SumShard(shard, nullptr, counts.data(), nullptr).ok());
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), std::ssize(counts));
    EXPECT_TRUE(GradientOfShard(shard, counts.data(), nullptr, {}).ok());
  }
  EXPECT_EQ(NumParts(0, 5), 1);
  EXPECT_EQ(NumParts(40'000, 40'000), 3);
}

TEST(ShardedLossTest, InfiniteScoresInAnotherShardCount) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const ScoreType type : kAllTypes) {
    Problem problem = MakeProblem(type, 2, 300, Density::kFew, Spread::kOrdinary, 3);
    problem.scores[0][0] = -inf;
    problem.labels[0] = {0};
    problem.scores[1][299] = inf;
    problem.labels[1] = {1};
    const ProblemResult whole = RunProblem(problem);
    const ProblemResult sharded = RunShards(problem, {0, 150, 300});
    EXPECT_EQ(sharded.loss, whole.loss);
    EXPECT_EQ(sharded.gradient, whole.gradient);
  }
}

TEST(ShardedLossTest, WrongArgumentsAreNamed) {
  Problem problem = MakeProblem(ScoreType::kFloat32, 1, 10, Density::kFew, Spread::kOrdinary, 1);
  Batched batched(problem);
  std::vector<double> sums(1);
  std::vector<int64_t> counts(static_cast<size_t>(batched.columns));
  ShardArguments shard = ShardOf(problem, &batched, 4, 7);
  const auto message = [&] {
    return SumShard(shard, sums.data(), counts.data(), nullptr).message();
  };
  EXPECT_EQ(message(), "first_class + shard_classes must be at most the 10 classes, got 4 + 7");
  shard = ShardOf(problem, &batched, -1, 7);
  EXPECT_EQ(message(), "first_class must be >= 0, got -1");
  shard = ShardOf(problem, &batched, 0, 10);
  shard.label_scores.data = nullptr;
  EXPECT_EQ(message(), "label_scores must be a pointer to data, got null");
  EXPECT_EQ(GradientOfShard(shard, counts.data(), nullptr, {}).message(),
            "label_scores must be a pointer to data, got null");
  shard = ShardOf(problem, &batched, 0, 10);
  EXPECT_EQ(GradientOfShard(shard, counts.data(), nullptr, {}).message(),
            "grad_scores must be a pointer to data, got null");
  EXPECT_EQ(SumShard(shard, nullptr, counts.data(), nullptr).message(),
            "part_sums must be a pointer to data, got null");
  EXPECT_EQ(ReduceParts(nullptr, 1, 1, 1, ScoreType::kFloat32, Reduction::kSum, nullptr).message(),
            "part_sums must be a pointer to data, got null");
  EXPECT_EQ(
      ReduceParts(sums.data(), 1, 1, 0, ScoreType::kFloat32, Reduction::kSum, nullptr).message(),
      "classes must be >= 1, got 0");
  EXPECT_EQ(
      ReduceParts(sums.data(), 1, 1, 1, static_cast<ScoreType>(9), Reduction::kSum, sums.data())
          .message(),
      "score_type must be a ScoreType, got 9");
}

}  // namespace
}  // namespace mlmargin::testing
