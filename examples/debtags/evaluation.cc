// SPDX-License-Identifier: Apache-2.0
#include "debtags/evaluation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace debtags {
namespace {

constexpr size_t kRowsPerBatch = 1024;

// Of the `k` tags with the highest scores, how many are labels. Of equal scores the tag with the
// lower number counts as higher.
size_t HitsAmongTop(size_t k, std::span<const float> scores, std::span<const int32_t> labels) {
  std::vector<int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto higher = [&](int32_t a, int32_t b) {
    const float score_a = scores[static_cast<size_t>(a)];
    const float score_b = scores[static_cast<size_t>(b)];
    return score_a != score_b ? score_a > score_b : a < b;
  };
  k = std::min(k, order.size());
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(k);
  std::partial_sort(order.begin(), end, order.end(), higher);
  return static_cast<size_t>(std::count_if(order.begin(), end, [&](int32_t tag) {
    return std::binary_search(labels.begin(), labels.end(), tag);
  }));
}

// Writes an example's labels to a row of the target, which -1 ends unless it is full.
void WriteLabels(std::span<const int32_t> labels, std::span<int32_t> row) {
  const auto end = std::copy(labels.begin(), labels.end(), row.begin());
  std::fill(end, row.end(), -1);
}

double Mean(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Evaluator::Evaluator(size_t num_tags)
    : num_tags_(num_tags), batches_{{kRowsPerBatch, num_tags}, {kRowsPerBatch, num_tags}} {}

Quality Evaluator::Evaluate(const Tagger& tagger, const Knobs& knobs,
                            std::span<const Example> examples, const Progress& progress) {
  Quality quality;
  size_t hits_at_1 = 0;
  size_t hits_at_5 = 0;
  const auto collect = [&](LossBatch& batch) {
    const std::span<const float> losses = batch.Wait();
    quality.losses.insert(quality.losses.end(), losses.begin(), losses.end());
    quality.loss_milliseconds += batch.LossMilliseconds();
  };

  const size_t num_batches = (examples.size() + kRowsPerBatch - 1) / kRowsPerBatch;
  for (size_t b = 0; b < num_batches; ++b) {
    LossBatch& batch = batches_[b % 2];
    if (b >= 2) collect(batch);
    const size_t first = b * kRowsPerBatch;
    const size_t rows = std::min(kRowsPerBatch, examples.size() - first);
    for (size_t row = 0; row < rows; ++row) {
      const Example& example = examples[first + row];
      const std::span<float> scores = batch.scores().subspan(row * num_tags_, num_tags_);
      tagger.Score(example, knobs, scores);
      WriteLabels(example.labels, batch.labels().subspan(row * num_tags_, num_tags_));
      hits_at_1 += HitsAmongTop(1, scores, example.labels);
      hits_at_5 += HitsAmongTop(5, scores, example.labels);
    }
    batch.Start(rows);
    if (progress) progress(first + rows);
  }
  for (size_t b = num_batches - std::min<size_t>(num_batches, 2); b < num_batches; ++b) {
    collect(batches_[b % 2]);
  }

  const double count = static_cast<double>(examples.size());
  quality.mean_loss = Mean(quality.losses);
  quality.precision_at_1 = static_cast<double>(hits_at_1) / count;
  quality.precision_at_5 = static_cast<double>(hits_at_5) / (5 * count);
  return quality;
}

Knobs Evaluator::Tune(const Tagger& tagger, std::span<const Knobs> choices,
                      std::span<const Example> examples, const Progress& progress) {
  Knobs best;
  double best_loss = std::numeric_limits<double>::infinity();
  for (const Knobs& knobs : choices) {
    const double loss = Evaluate(tagger, knobs, examples, progress).mean_loss;
    if (loss < best_loss) {
      best_loss = loss;
      best = knobs;
    }
  }
  return best;
}

}  // namespace debtags
