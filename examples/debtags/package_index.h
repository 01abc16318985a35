// SPDX-License-Identifier: Apache-2.0
// The package index of a Debian system: names, one-line descriptions and tags.
#ifndef MLMARGIN_EXAMPLES_DEBTAGS_PACKAGE_INDEX_H_
#define MLMARGIN_EXAMPLES_DEBTAGS_PACKAGE_INDEX_H_

#include <string>
#include <string_view>
#include <vector>

namespace debtags {

struct Package {
  std::string name;
  std::string summary;            // The first line of the description; may be empty.
  std::vector<std::string> tags;  // "facet::tag", sorted, each once; never empty.
};

// The tagged packages of an index as `apt-cache dumpavail` prints it: paragraphs of "Field: value"
// lines, where a line that begins with a blank continues the field above it. Of each name the
// first paragraph of `architecture`, or of "all", counts; the order is kept. Bytes are taken as
// they are, valid UTF-8 or not.
std::vector<Package> ParsePackageIndex(std::string_view index, std::string_view architecture);

// The tags of a Tag field, sorted, each once. "role::{program,devel-lib}" stands for two.
std::vector<std::string> ParseTags(std::string_view field);

// The bytes of a file. Throws std::runtime_error when it cannot be read.
std::string ReadFile(const std::string& path);

// What a shell command prints. Throws std::runtime_error when it fails.
std::string ReadCommand(const std::string& command);

}  // namespace debtags

#endif  // MLMARGIN_EXAMPLES_DEBTAGS_PACKAGE_INDEX_H_
