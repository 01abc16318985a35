// SPDX-License-Identifier: Apache-2.0
#include "debtags/package_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace debtags {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Names(std::string_view index, std::string_view architecture = "amd64") {
  std::vector<std::string> names;
  for (const Package& package : ParsePackageIndex(index, architecture)) {
    names.push_back(package.name);
  }
  return names;
}

TEST(ParsePackageIndex, ReadsNameSummaryAndTags) {
  const std::vector<Package> packages = ParsePackageIndex(
      "Package: hello\n"
      "Version: 2.10-3\n"
      "Architecture: amd64\n"
      "Description: example package\n"
      "Tag: role::program, devel::examples\n"
      "Section: devel\n",
      "amd64");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_EQ(packages[0].name, "hello");
  EXPECT_EQ(packages[0].summary, "example package");
  EXPECT_THAT(packages[0].tags, ElementsAre("devel::examples", "role::program"));
}

TEST(ParsePackageIndex, ReadsContinuedTagLines) {
  const std::vector<Package> packages = ParsePackageIndex(
      "Package: a\nArchitecture: all\nTag: game::strategy, role::program,\n"
      " uitoolkit::sdl,\n\tuse::gameplaying\nSection: games\n",
      "amd64");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_THAT(packages[0].tags,
              ElementsAre("game::strategy", "role::program", "uitoolkit::sdl", "use::gameplaying"));
}

TEST(ParsePackageIndex, ReadsTagsThatBeginOnTheNextLine) {
  const std::vector<Package> packages =
      ParsePackageIndex("Package: a\nArchitecture: all\nTag:\n x::y\n", "amd64");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_THAT(packages[0].tags, ElementsAre("x::y"));
}

TEST(ParsePackageIndex, DoesNotReadTheContinuationOfOtherFieldsAsTags) {
  const std::vector<Package> packages =
      ParsePackageIndex("Package: a\nArchitecture: all\nTag: x::y\nDepends: b,\n c\n\n", "amd64");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_THAT(packages[0].tags, ElementsAre("x::y"));
}

TEST(ParsePackageIndex, SummaryIsTheFirstLineOfALongDescription) {
  const std::vector<Package> packages = ParsePackageIndex(
      "Package: a\nArchitecture: all\nDescription: short\n longer\n .\n more\nTag: x::y\n",
      "amd64");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_EQ(packages[0].summary, "short");
}

TEST(ParsePackageIndex, TakesPackagesWithoutDescription) {
  const std::vector<Package> packages =
      ParsePackageIndex("Package: a\nArchitecture: all\nTag: x::y\n", "amd64");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_EQ(packages[0].summary, "");
}

TEST(ParsePackageIndex, TakesTheFirstParagraphOfAName) {
  const std::vector<Package> packages = ParsePackageIndex(
      "Package: a\nArchitecture: all\nTag: first::one\n\n"
      "Package: a\nArchitecture: all\nTag: second::one\n",
      "amd64");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_THAT(packages[0].tags, ElementsAre("first::one"));
}

TEST(ParsePackageIndex, SkipsOtherArchitectures) {
  constexpr std::string_view kIndex =
      "Package: a\nArchitecture: i386\nTag: x::y\n\n"
      "Package: a\nArchitecture: amd64\nTag: x::y\n\n"
      "Package: b\nArchitecture: all\nTag: x::y\n\n"
      "Package: c\nArchitecture: i386\nTag: x::y\n";
  EXPECT_THAT(Names(kIndex, "amd64"), ElementsAre("a", "b"));
  EXPECT_THAT(Names(kIndex, "i386"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Names(kIndex, "arm64"), ElementsAre("b"));
}

TEST(ParsePackageIndex, SkipsPackagesWithoutTags) {
  EXPECT_THAT(Names("Package: a\nArchitecture: all\n\n"
                    "Package: b\nArchitecture: all\nTag:\n\n"
                    "Package: c\nArchitecture: all\nTag: , ,\n\n"
                    "Package: d\nArchitecture: all\nTag: x::y\n"),
              ElementsAre("d"));
}

TEST(ParsePackageIndex, SkipsParagraphsWithoutAName) {
  EXPECT_THAT(Names("Architecture: all\nTag: x::y\n"), IsEmpty());
}

TEST(ParsePackageIndex, TakesAnyNumberOfBlankLinesAndNoNewlineAtTheEnd) {
  EXPECT_THAT(Names("\n\nPackage: a\nArchitecture: all\nTag: x::y\n\n \n\n"
                    "Package: b\nArchitecture: all\nTag: x::y"),
              ElementsAre("a", "b"));
}

TEST(ParsePackageIndex, TakesCarriageReturns) {
  const std::vector<Package> packages =
      ParsePackageIndex("Package: a\r\nArchitecture: all\r\nTag: x::y\r\n\r\n", "amd64");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_THAT(packages[0].tags, ElementsAre("x::y"));
}

TEST(ParsePackageIndex, ToleratesLinesThatAreNoFields) {
  EXPECT_THAT(Names("garbage\n continued\nPackage: a\nArchitecture: all\n:\nTag: x::y\n"),
              ElementsAre("a"));
  EXPECT_THAT(Names(" only a continuation\n"), IsEmpty());
  EXPECT_THAT(Names(""), IsEmpty());
}

TEST(ParsePackageIndex, KeepsBytesThatAreNotUtf8) {
  const std::vector<Package> packages = ParsePackageIndex(
      "Package: a\nArchitecture: all\nDescription: caf\xe9 \xff\nTag: x::\xc3\n", "amd64");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_EQ(packages[0].summary, "caf\xe9 \xff");
  EXPECT_THAT(packages[0].tags, ElementsAre("x::\xc3"));
}

TEST(ParseTags, SortsAndDropsRepeats) {
  EXPECT_THAT(ParseTags("b::2, a::1,b::2,  a::1 "), ElementsAre("a::1", "b::2"));
}

TEST(ParseTags, ExpandsBraces) {
  EXPECT_THAT(ParseTags("role::{program, devel-lib}, x::y"),
              ElementsAre("role::devel-lib", "role::program", "x::y"));
  EXPECT_THAT(ParseTags("a::{b,\nc}"), ElementsAre("a::b", "a::c"));
  EXPECT_THAT(ParseTags("a::{}"), IsEmpty());
}

TEST(ParseTags, KeepsAnUnclosedBraceAsItIs) {
  EXPECT_THAT(ParseTags("a::{b"), ElementsAre("a::{b"));
}

TEST(ParseTags, TakesAnEmptyField) { EXPECT_THAT(ParseTags(""), IsEmpty()); }

TEST(ReadFile, ThrowsWhenThereIsNone) {
  EXPECT_THROW(ReadFile("/no/such/file"), std::runtime_error);
}

TEST(ReadCommand, GivesTheOutput) { EXPECT_EQ(ReadCommand("printf 'a\\nb'"), "a\nb"); }

TEST(ReadCommand, ThrowsWhenTheCommandFails) {
  EXPECT_THROW(ReadCommand("exit 3"), std::runtime_error);
}

}  // namespace
}  // namespace debtags
