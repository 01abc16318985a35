// SPDX-License-Identifier: Apache-2.0
#include "debtags/tagger.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace debtags {
namespace {

// A word of one package says nothing about others.
constexpr int kMinPackagesOfWord = 2;
// How many packages' worth of P(tag) is mixed into P(tag | word).
constexpr float kPriorPackages = 2;

float Logit(float probability) { return std::log(probability / (1 - probability)); }

std::vector<float> PriorProbabilities(std::span<const Example> examples, int32_t num_tags) {
  std::vector<float> counts(static_cast<size_t>(num_tags), 0.5f);
  for (const Example& example : examples) {
    for (const int32_t label : example.labels) counts[static_cast<size_t>(label)] += 1;
  }
  for (float& count : counts) count /= static_cast<float>(examples.size()) + 1;
  return counts;
}

std::unordered_map<std::string, int> CountPackagesOfWords(std::span<const Example> examples) {
  std::unordered_map<std::string, int> counts;
  for (const Example& example : examples) {
    for (const std::string& word : example.words) ++counts[word];
  }
  return counts;
}

}  // namespace

Tagger::Tagger(std::span<const Example> examples, int32_t num_tags) {
  const size_t tags = static_cast<size_t>(num_tags);
  const std::vector<float> prior = PriorProbabilities(examples, num_tags);
  for (const float probability : prior) prior_logits_.push_back(Logit(probability));

  std::vector<float> packages_of_row;
  for (const auto& [word, count] : CountPackagesOfWords(examples)) {
    if (count < kMinPackagesOfWord) continue;
    rows_.emplace(word, rows_.size());
    packages_of_row.push_back(static_cast<float>(count));
  }

  // First the packages that have word and tag, then what follows from their number.
  shifts_.assign(rows_.size() * tags, 0);
  for (const Example& example : examples) {
    for (const std::string& word : example.words) {
      const auto row = rows_.find(word);
      if (row == rows_.end()) continue;
      for (const int32_t label : example.labels) {
        shifts_[row->second * tags + static_cast<size_t>(label)] += 1;
      }
    }
  }
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (size_t tag = 0; tag < tags; ++tag) {
      float& shift = shifts_[row * tags + tag];
      const float probability =
          (shift + kPriorPackages * prior[tag]) / (packages_of_row[row] + kPriorPackages);
      shift = Logit(probability) - prior_logits_[tag];
    }
  }
}

void Tagger::Score(const Example& example, const Knobs& knobs, std::span<float> scores) const {
  const size_t tags = prior_logits_.size();
  for (size_t tag = 0; tag < tags; ++tag) scores[tag] = knobs.scale * prior_logits_[tag];
  if (knobs.evidence == 0) return;
  for (const std::string& word : example.words) {
    const auto row = rows_.find(word);
    if (row == rows_.end()) continue;
    const float* shifts = &shifts_[row->second * tags];
    const float weight = knobs.scale * knobs.evidence;
    for (size_t tag = 0; tag < tags; ++tag) scores[tag] += weight * shifts[tag];
  }
}

}  // namespace debtags
