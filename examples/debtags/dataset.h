// SPDX-License-Identifier: Apache-2.0
// Tagged packages as a multilabel data set: tags by number, and a fixed split.
#ifndef MLMARGIN_EXAMPLES_DEBTAGS_DATASET_H_
#define MLMARGIN_EXAMPLES_DEBTAGS_DATASET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "debtags/package_index.h"

namespace debtags {

struct Example {
  std::vector<std::string> words;  // Of the name and the summary, each once.
  std::vector<int32_t> labels;     // Numbers of the tags, ascending.
};

struct Dataset {
  int32_t num_tags = 0;
  std::vector<Example> fitting;   // To count words in.
  std::vector<Example> tuning;    // To choose the taggers' scales on.
  std::vector<Example> held_out;  // To judge on: nothing is learned from these.
};

// Numbers the tags in alphabetical order and splits by a hash of the name, so that a package is
// on the same side in every run: `held_out_percent` of the packages are held out, and a fifth of
// the others tune.
Dataset MakeDataset(const std::vector<Package>& packages, int held_out_percent);

// "libfoo2-dev", "Fast foo library" -> name:lib, name:foo, name:dev, foo, dev, fast, library.
std::vector<std::string> Words(std::string_view name, std::string_view summary);

}  // namespace debtags

#endif  // MLMARGIN_EXAMPLES_DEBTAGS_DATASET_H_
