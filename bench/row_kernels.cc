// SPDX-License-Identifier: Apache-2.0
// Times the row kernels against each other, on every SIMD target of the machine and one thread:
// what the choice between them in kernel/row_kernel.cc and docs/performance.md's model rest on.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "batch.h"
#include "kernel/row_kernel.h"
#include "measure.h"
#include "mlmargin/settings.h"

namespace mlmargin::bench {
namespace {

using kernel::RowKernel;

constexpr int kTurns = 9;
// So many scores fit a cache of the core together with their mask.
constexpr int64_t kScores = 16 * 16384;
constexpr int64_t kShortRows = 1024;

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

const char* Name(RowKernel kernel) {
  switch (kernel) {
    case RowKernel::kShort:
      return "short";
    case RowKernel::kPairwise:
      return "pairwise";
    case RowKernel::kSearch:
      return "search";
  }
  return "";
}

// One line of a table: a kernel on a target, for all columns.
struct Line {
  std::string target;
  RowKernel kernel;
  std::vector<double> nanoseconds;
};

// Seconds of a call on the shape for each line, minima over turns in which all lines take part.
std::vector<double> Time(const Shape& shape, const std::vector<Line>& lines) {
  Tensors tensors(MakeBatch(shape), ScoreType::kFloat32, LabelType::kInt64);
  const LossArguments call = tensors.Call(Reduction::kMean);
  std::vector<Contender> contenders;
  for (size_t i = 0; i < lines.size(); ++i) {
    contenders.emplace_back([&call] { Require(MultilabelMarginLoss(call, nullptr)); });
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t i = 0; i < lines.size(); ++i) {
      Require(SetTarget(lines[i].target));
      kernel::ForceRowKernel(lines[i].kernel);
      contenders[i].TakeTurn();
    }
  }
  std::vector<double> seconds;
  for (const Contender& contender : contenders) seconds.push_back(contender.Minimum());
  return seconds;
}

// `per` is what the time is divided by: the classes or the rows of a batch.
void PrintTable(const std::string& title, const std::vector<RowKernel>& kernels,
                const std::vector<Shape>& shapes, const std::vector<std::string>& headings,
                int64_t (*per)(const Shape& shape)) {
  std::vector<Line> lines;
  for (const std::string& target : SupportedTargets()) {
    for (const RowKernel kernel : kernels) lines.push_back({target, kernel, {}});
  }
  for (const Shape& shape : shapes) {
    const std::vector<double> seconds = Time(shape, lines);
    for (size_t i = 0; i < lines.size(); ++i) {
      lines[i].nanoseconds.push_back(seconds[i] * 1e9 / static_cast<double>(per(shape)));
    }
  }
  fmt::print("\n{}\n{:<20}", title, "");
  for (const std::string& heading : headings) fmt::print("{:>9}", heading);
  for (const Line& line : lines) {
    fmt::print("\n{:<10}{:<10}", line.target, Name(line.kernel));
    for (const double value : line.nanoseconds) fmt::print("{:>9.{}f}", value, value < 20 ? 2 : 0);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

int64_t Classes(const Shape& shape) { return shape.rows * shape.classes; }
int64_t Rows(const Shape& shape) { return shape.rows; }

void PrintManyClasses() {
  std::vector<Shape> shapes;
  std::vector<std::string> headings;
  for (const int64_t labels : {8, 16, 24, 32, 40, 48, 56, 64, 96, 128}) {
    shapes.push_back({"", "", kScores / 16384, 16384, labels});
    headings.push_back(fmt::format("{}", labels));
  }
  PrintTable("ns per class, rows of 16,384 classes, by the labels of a row",
             {RowKernel::kPairwise, RowKernel::kSearch}, shapes, headings, Classes);
}

void PrintFewerClasses() {
  std::vector<Shape> shapes;
  std::vector<std::string> headings;
  for (const int64_t labels : {64, 128}) {
    for (const int64_t classes : {130, 192, 256, 512}) {
      shapes.push_back({"", "", kScores / classes, classes, labels});
      headings.push_back(fmt::format("{}/{}", classes, labels));
    }
  }
  PrintTable("ns per class, by classes/labels of a row", {RowKernel::kPairwise, RowKernel::kSearch},
             shapes, headings, Classes);
}

void PrintShortRows() {
  std::vector<Shape> shapes;
  std::vector<std::string> headings;
  for (const int64_t labels : {1, 4}) {
    for (const int64_t classes : {16, 32, 64, 96, 128}) {
      if (classes > kernel::kMaxShortClasses) continue;
      shapes.push_back({"", "", kShortRows, classes, labels});
      headings.push_back(fmt::format("{}/{}", classes, labels));
    }
  }
  PrintTable("ns per row, by classes/labels of a row", {RowKernel::kShort, RowKernel::kPairwise},
             shapes, headings, Rows);
}

}  // namespace
}  // namespace mlmargin::bench

int main() {
  try {
    mlmargin::bench::Require(mlmargin::SetNumThreads(1));
    fmt::print(
        "float32 scores, int64 labels, with the mask, one thread; data in the cache, minima.\n");
    mlmargin::bench::PrintManyClasses();
    mlmargin::bench::PrintFewerClasses();
    mlmargin::bench::PrintShortRows();
  } catch (const std::exception& error) {
    fmt::print(stderr, "row_kernel_bench: {}\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
