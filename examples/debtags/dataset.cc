// SPDX-License-Identifier: Apache-2.0
#include "debtags/dataset.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace debtags {
namespace {

// FNV-1a: unlike std::hash the same everywhere.
uint64_t Hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

// ASCII on purpose: no locale decides about the data.
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsWordChar(char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '+'; }
char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The runs of characters that `belongs` takes, in lower case.
template <typename Predicate>
std::vector<std::string> Runs(std::string_view text, Predicate belongs) {
  std::vector<std::string> runs;
  bool in_run = false;
  for (const char c : text) {
    if (!belongs(c)) {
      in_run = false;
      continue;
    }
    if (!in_run) runs.emplace_back();
    in_run = true;
    runs.back().push_back(ToLower(c));
  }
  return runs;
}

}  // namespace

std::vector<std::string> Words(std::string_view name, std::string_view summary) {
  std::vector<std::string> words = Runs(summary, IsWordChar);
  for (std::string part : Runs(name, IsLetter)) {
    if (part.starts_with("lib") && part != "lib") {
      words.emplace_back("name:lib");
      part.erase(0, 3);
    }
    // As a word of any package, and as one that says what kind of package this is.
    words.push_back("name:" + part);
    words.push_back(std::move(part));
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

Dataset MakeDataset(const std::vector<Package>& packages, int held_out_percent) {
  std::vector<std::string> tags;
  for (const Package& package : packages) {
    tags.insert(tags.end(), package.tags.begin(), package.tags.end());
  }
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  std::unordered_map<std::string_view, int32_t> number;
  for (const std::string& tag : tags) number.emplace(tag, static_cast<int32_t>(number.size()));

  Dataset dataset;
  dataset.num_tags = static_cast<int32_t>(tags.size());
  for (const Package& package : packages) {
    Example example{Words(package.name, package.summary), {}};
    for (const std::string& tag : package.tags) example.labels.push_back(number.at(tag));
    const uint64_t hash = Hash(package.name) >> 16;
    const bool held_out = hash % 100 < static_cast<uint64_t>(held_out_percent);
    const bool tunes = hash / 100 % 5 == 0;
    (held_out ? dataset.held_out
     : tunes  ? dataset.tuning
              : dataset.fitting)
        .push_back(std::move(example));
  }
  return dataset;
}

}  // namespace debtags
