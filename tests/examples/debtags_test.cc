// SPDX-License-Identifier: Apache-2.0
// The parts of debtags behind the parser: words, the split, scores, and the loss on the device.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "debtags/acl_loss.h"
#include "debtags/dataset.h"
#include "debtags/evaluation.h"
#include "debtags/package_index.h"
#include "debtags/tagger.h"

namespace debtags {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(Words, SplitsTheNameAndTheSummary) {
  EXPECT_THAT(
      Words("libfoo2-dev", "Fast FOO library"),
      UnorderedElementsAre("name:lib", "name:foo", "name:dev", "foo", "dev", "fast", "library"));
}

TEST(Words, KeepsPlusAndDigitsInTheSummary) {
  EXPECT_THAT(Words("", "C++ x264, caf\xe9"), UnorderedElementsAre("c++", "x264", "caf"));
}

TEST(Words, TakesNothing) { EXPECT_THAT(Words("", ""), IsEmpty()); }

std::vector<Package> ManyPackages() {
  std::vector<Package> packages;
  for (int i = 0; i < 1000; ++i) {
    packages.push_back({fmt::format("package{}", i), "", {i % 2 == 0 ? "b::even" : "a::odd"}});
  }
  return packages;
}

TEST(MakeDataset, NumbersTagsInAlphabeticalOrder) {
  const Dataset data = MakeDataset({{"p", "", {"a::x", "c::z"}}, {"q", "", {"b::y"}}}, 20);
  EXPECT_EQ(data.num_tags, 3);
  std::vector<std::vector<int32_t>> labels;
  for (const auto* part : {&data.fitting, &data.tuning, &data.held_out}) {
    for (const Example& example : *part) labels.push_back(example.labels);
  }
  EXPECT_THAT(labels, UnorderedElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

TEST(MakeDataset, SplitsByName) {
  const Dataset data = MakeDataset(ManyPackages(), 20);
  EXPECT_EQ(data.fitting.size() + data.tuning.size() + data.held_out.size(), 1000u);
  EXPECT_NEAR(static_cast<double>(data.held_out.size()), 200, 60);
  EXPECT_NEAR(static_cast<double>(data.tuning.size()), 160, 60);

  std::vector<Package> reversed = ManyPackages();
  std::reverse(reversed.begin(), reversed.end());
  const Dataset again = MakeDataset(reversed, 20);
  ASSERT_EQ(again.held_out.size(), data.held_out.size());
  EXPECT_EQ(again.held_out.back().words, data.held_out.front().words);
}

std::vector<Example> CatsAndDogs() {
  return {{{"cat"}, {0}}, {{"cat"}, {0}}, {{"dog"}, {1}}, {{"dog"}, {1}}, {{"dog", "rare"}, {1}}};
}

TEST(Tagger, WithoutEvidenceTheFrequentTagWins) {
  const Tagger tagger(CatsAndDogs(), 2);
  std::vector<float> scores(2);
  tagger.Score({{"cat"}, {}}, {.evidence = 0, .scale = 1}, scores);
  EXPECT_LT(scores[0], scores[1]);
}

TEST(Tagger, WithEvidenceTheWordsDecide) {
  const Tagger tagger(CatsAndDogs(), 2);
  std::vector<float> scores(2);
  tagger.Score({{"cat"}, {}}, {.evidence = 1, .scale = 1}, scores);
  EXPECT_GT(scores[0], scores[1]);
  tagger.Score({{"dog"}, {}}, {.evidence = 1, .scale = 1}, scores);
  EXPECT_LT(scores[0], scores[1]);
}

TEST(Tagger, IgnoresUnknownAndRareWords) {
  const Tagger tagger(CatsAndDogs(), 2);
  std::vector<float> with(2);
  std::vector<float> without(2);
  tagger.Score({{"rare", "unknown"}, {}}, {.evidence = 1, .scale = 2}, with);
  tagger.Score({{}, {}}, {.evidence = 1, .scale = 2}, without);
  EXPECT_EQ(with, without);
}

class OnDevice : public ::testing::Test {
 private:
  AclDevice device_;
};

std::vector<float> Losses(LossBatch* batch) {
  const std::span<const float> losses = batch->Wait();
  return {losses.begin(), losses.end()};
}

TEST_F(OnDevice, LossBatchComputesKnownLosses) {
  LossBatch batch(3, 3);
  const std::vector<float> scores = {0, 1, 2, 3, 4, 5, 0.5f, 0.25f, 0};
  const std::vector<int32_t> labels = {0, 1, -1, 2, -1, -1, 0, -1, -1};
  std::copy(scores.begin(), scores.end(), batch.scores().begin());
  std::copy(labels.begin(), labels.end(), batch.labels().begin());
  batch.Start(3);
  // (3 + 2) / 3; 0; (0.75 + 0.5) / 3
  EXPECT_THAT(Losses(&batch), ElementsAre(5.0f / 3, 0.0f, 1.25f / 3));
  EXPECT_GE(batch.LossMilliseconds(), 0);
}

TEST_F(OnDevice, LossBatchMayBeUsedAgainWithFewerRows) {
  LossBatch batch(2, 2);
  std::fill(batch.scores().begin(), batch.scores().end(), 0.0f);
  std::fill(batch.labels().begin(), batch.labels().end(), -1);
  batch.Start(2);
  EXPECT_EQ(batch.Wait().size(), 2u);
  batch.labels()[0] = 1;
  batch.Start(1);
  EXPECT_THAT(Losses(&batch), ElementsAre(0.5f));
}

TEST_F(OnDevice, FailuresCarryTheLibrarysWords) {
  EXPECT_THAT([] { LossBatch(0, 3); },
              ::testing::ThrowsMessage<std::runtime_error>(::testing::HasSubstr("failed with")));
}

// The definition, in double.
double SlowLoss(std::span<const float> scores, const std::vector<int32_t>& labels) {
  double sum = 0;
  for (const int32_t j : labels) {
    for (size_t i = 0; i < scores.size(); ++i) {
      if (std::binary_search(labels.begin(), labels.end(), static_cast<int32_t>(i))) continue;
      const double difference =
          static_cast<double>(scores[static_cast<size_t>(j)]) - static_cast<double>(scores[i]);
      sum += std::max(0.0, 1 - difference);
    }
  }
  return sum / static_cast<double>(scores.size());
}

// Enough examples for more batches than are in flight, the last one not full.
std::vector<Example> ManyExamples() {
  std::vector<Example> examples;
  for (int i = 0; i < 3000; ++i) {
    Example example;
    for (int32_t tag = 0; tag < 7; ++tag) {
      if ((i >> tag) % 2 == 1) example.labels.push_back(tag);
    }
    example.words.push_back(fmt::format("w{}", i % 50));
    examples.push_back(example);
  }
  return examples;
}

TEST_F(OnDevice, EvaluatorAgreesWithTheDefinitionForEachExample) {
  const std::vector<Example> examples = ManyExamples();
  const Tagger tagger(examples, 7);
  const Knobs knobs{.evidence = 0.5f, .scale = 0.7f};
  const Quality quality = Evaluator(7).Evaluate(tagger, knobs, examples);
  ASSERT_EQ(quality.losses.size(), examples.size());
  std::vector<float> scores(7);
  for (size_t i = 0; i < examples.size(); ++i) {
    tagger.Score(examples[i], knobs, scores);
    ASSERT_NEAR(quality.losses[i], SlowLoss(scores, examples[i].labels), 1e-6) << i;
  }
}

TEST_F(OnDevice, EvaluatorCountsPrecision) {
  // Tag 2 is the most frequent, then 1, then 0; there are no more than three.
  const std::vector<Example> examples = {{{}, {1, 2}}, {{}, {2}}, {{}, {0, 1, 2}}, {{}, {1}}};
  const Tagger tagger(std::vector<Example>{{{}, {2}}, {{}, {2}}, {{}, {2}}, {{}, {1}}, {{}, {1}}},
                      3);
  const Quality quality = Evaluator(3).Evaluate(tagger, {.evidence = 0, .scale = 1}, examples);
  EXPECT_DOUBLE_EQ(quality.precision_at_1, 0.75);
  EXPECT_DOUBLE_EQ(quality.precision_at_5, 7.0 / 20);
}

TEST_F(OnDevice, TuneTakesTheLowestLoss) {
  const std::vector<Example> examples = CatsAndDogs();
  const Tagger tagger(examples, 2);
  const std::vector<Knobs> choices = {
      {.evidence = 1, .scale = -1}, {.evidence = 1, .scale = 1}, {.evidence = 0, .scale = 1}};
  EXPECT_EQ(Evaluator(2).Tune(tagger, choices, examples).evidence, 1);
  EXPECT_EQ(Evaluator(2).Tune(tagger, choices, examples).scale, 1);
}

}  // namespace
}  // namespace debtags
