// SPDX-License-Identifier: Apache-2.0
// A tagger: from the words of a package to a score for each tag.
#ifndef MLMARGIN_EXAMPLES_DEBTAGS_TAGGER_H_
#define MLMARGIN_EXAMPLES_DEBTAGS_TAGGER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "debtags/dataset.h"

namespace debtags {

// How a tagger uses what it has counted. With evidence 0 the words do not matter, and tags are
// scored by their frequency alone. The scale leaves the order of the tags as it is, but decides
// what a margin of 1 means.
struct Knobs {
  float evidence = 0;
  float scale = 1;
};

// Log-odds, and how each word shifts them:
//
//   score(tag) = scale * (logit P(tag) + evidence * sum over words of shift(word, tag))
//   shift(word, tag) = logit P(tag | word) - logit P(tag)
//
// P(tag | word) is drawn towards P(tag) as if the word had been seen in a few more packages.
class Tagger {
 public:
  // Counts tags and words in `examples`.
  Tagger(std::span<const Example> examples, int32_t num_tags);

  // Writes a score for each tag to `scores`. Thread-safe.
  void Score(const Example& example, const Knobs& knobs, std::span<float> scores) const;

 private:
  std::unordered_map<std::string, size_t> rows_;  // Row of a word in shifts_.
  std::vector<float> prior_logits_;               // A tag each.
  std::vector<float> shifts_;                     // A row of num_tags for each word.
};

}  // namespace debtags

#endif  // MLMARGIN_EXAMPLES_DEBTAGS_TAGGER_H_
