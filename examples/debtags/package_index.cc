// SPDX-License-Identifier: Apache-2.0
#include "debtags/package_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace debtags {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view Strip(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Takes the first line, without its end, off `text`.
std::string_view TakeLine(std::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return line;
}

// The fields of one paragraph that matter here.
struct Paragraph {
  std::string name;
  std::string architecture;
  std::string description;
  std::string tag;

  // Null for a field that does not matter.
  std::string* Field(std::string_view field_name) {
    if (field_name == "Package") return &name;
    if (field_name == "Architecture") return &architecture;
    // Without translations the index has the whole description under its plain name.
    if (field_name == "Description" || field_name == "Description-en") return &description;
    if (field_name == "Tag") return &tag;
    return nullptr;
  }
};

// Takes the first paragraph off `index`; nothing at its end.
std::optional<Paragraph> TakeParagraph(std::string_view* index) {
  Paragraph paragraph;
  std::string* field = nullptr;
  bool any_line = false;
  while (!index->empty()) {
    const std::string_view line = TakeLine(index);
    if (Strip(line).empty()) {
      if (any_line) break;
      continue;
    }
    any_line = true;
    if (line.front() == ' ' || line.front() == '\t') {
      if (field != nullptr) field->append("\n").append(Strip(line));
      continue;
    }
    const size_t colon = std::min(line.find(':'), line.size());
    field = paragraph.Field(line.substr(0, colon));
    if (field != nullptr) *field = Strip(line.substr(std::min(colon + 1, line.size())));
  }
  return any_line ? std::optional(std::move(paragraph)) : std::nullopt;
}

// Splits at the commas that are not inside braces.
std::vector<std::string_view> SplitTags(std::string_view field) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  bool in_braces = false;
  for (size_t i = 0; i <= field.size(); ++i) {
    if (i == field.size() || (field[i] == ',' && !in_braces)) {
      parts.push_back(field.substr(begin, i - begin));
      begin = i + 1;
    } else if (field[i] == '{' || field[i] == '}') {
      in_braces = field[i] == '{';
    }
  }
  return parts;
}

void AddTag(std::string tag, std::vector<std::string>* tags) {
  if (!tag.empty()) tags->push_back(std::move(tag));
}

}  // namespace

std::vector<std::string> ParseTags(std::string_view field) {
  std::string one_line(field);
  std::replace(one_line.begin(), one_line.end(), '\n', ' ');
  std::vector<std::string> tags;
  for (std::string_view part : SplitTags(one_line)) {
    part = Strip(part);
    const size_t brace = part.find('{');
    if (brace == std::string_view::npos || part.back() != '}') {
      AddTag(std::string(part), &tags);
      continue;
    }
    const std::string facet(part.substr(0, brace));
    for (const std::string_view member :
         SplitTags(part.substr(brace + 1, part.size() - brace - 2))) {
      if (!Strip(member).empty()) AddTag(facet + std::string(Strip(member)), &tags);
    }
  }
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  return tags;
}

std::vector<Package> ParsePackageIndex(std::string_view index, std::string_view architecture) {
  std::vector<Package> packages;
  std::unordered_set<std::string> seen;
  while (std::optional<Paragraph> paragraph = TakeParagraph(&index)) {
    const bool wanted = paragraph->architecture == architecture || paragraph->architecture == "all";
    if (!wanted || paragraph->name.empty() || !seen.insert(paragraph->name).second) continue;
    std::vector<std::string> tags = ParseTags(paragraph->tag);
    if (tags.empty()) continue;
    std::string_view description = paragraph->description;
    packages.push_back(
        {std::move(paragraph->name), std::string(TakeLine(&description)), std::move(tags)});
  }
  return packages;
}

namespace {

// Reads to the end of `stream`.
std::string ReadAll(std::FILE* stream) {
  std::string bytes;
  std::array<char, 1 << 16> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), stream)) {
    bytes.append(buffer.data(), count);
  }
  return bytes;
}

}  // namespace

std::string ReadFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error(fmt::format("cannot open {}", path));
  std::string bytes = ReadAll(file);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) throw std::runtime_error(fmt::format("cannot read {}", path));
  return bytes;
}

std::string ReadCommand(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error(fmt::format("cannot run {}", command));
  std::string bytes = ReadAll(pipe);
  if (pclose(pipe) != 0) throw std::runtime_error(fmt::format("{} failed", command));
  return bytes;
}

}  // namespace debtags
