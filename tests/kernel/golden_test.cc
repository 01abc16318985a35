// SPDX-License-Identifier: Apache-2.0
// The same inputs give the same bits on every machine: hashes of the results are kept in
// golden_hashes.txt, and every target of every machine must give them.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <fpu_control.h>
#endif

#include "golden_batch.h"
#include "kernel/row_kernel.h"
#include "mlmargin/settings.h"

namespace mlmargin::testing {
namespace {

constexpr const char* kFile = MLMARGIN_GOLDEN_FILE;
constexpr const char* kUpdate = "MLMARGIN_UPDATE_GOLDEN";

// A way to compute a row: its suffix in the file, and how to choose it.
struct RowMethod {
  std::string suffix;
  std::function<void()> choose;
};

// The one place to add a row kernel.
std::vector<RowMethod> RowMethods() {
  std::vector<RowMethod> methods = {{"", [] { kernel::ForceRowKernel(std::nullopt); }}};
  // Short rows are left to the choice, which gives them to the kernel for these.
  for (const auto& [suffix, row_kernel] : {std::pair{"/pairwise", kernel::RowKernel::kPairwise},
                                           std::pair{"/search", kernel::RowKernel::kSearch}}) {
    methods.push_back({suffix, [row_kernel = row_kernel] { kernel::ForceRowKernel(row_kernel); }});
  }
  return methods;
}

struct Line {
  std::string name;
  std::string hash;
};

// The lines of the file but for its comments.
std::vector<Line> ReadLines(const std::string& path) {
  std::vector<Line> lines;
  std::ifstream file(path);
  EXPECT_TRUE(file) << "cannot read " << path;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    const size_t space = text.find(' ');
    EXPECT_NE(space, std::string::npos) << path << ": " << text;
    if (space != std::string::npos)
      lines.push_back({text.substr(0, space), text.substr(space + 1)});
  }
  return lines;
}

void WriteLines(const std::vector<Line>& lines, const std::string& path) {
  std::ofstream file(path);
  file
      << "# Hashes of losses and masks, by golden_test.cc. To make them anew, after a change that\n"
      << "# is meant to change results: " << kUpdate
      << "=<this file> build/debug/bin/golden_tests\n";
  for (const Line& line : lines) file << line.name << " " << line.hash << "\n";
  EXPECT_TRUE(file.flush()) << "cannot write " << path;
}

// Runs a case and hashes the losses and, behind them, the mask.
std::string HashOfResult(const GoldenCase& golden, const GoldenBatch& batch) {
  const size_t bytes = golden.score_type == ScoreType::kFloat32 ? 4 : 2;
  const bool none = golden.reduction == Reduction::kNone;
  std::vector<unsigned char> losses(bytes * static_cast<size_t>(none ? golden.rows : 1), 0xA5);
  std::vector<unsigned char> mask(bytes * static_cast<size_t>(golden.rows * golden.classes), 0xA5);
  std::vector<double> row_losses(static_cast<size_t>(golden.rows));
  LossArguments arguments;
  arguments.rows = golden.rows;
  arguments.classes = golden.classes;
  arguments.score_type = golden.score_type;
  arguments.label_type = golden.label_type;
  arguments.reduction = golden.reduction;
  arguments.scores = {batch.scores.data(), golden.classes, 1};
  arguments.labels = {batch.labels.data(), batch.label_columns, 1};
  arguments.label_columns = batch.label_columns;
  arguments.loss = losses.data();
  arguments.mask = {mask.data(), golden.classes, 1};
  arguments.row_losses = row_losses.data();
  const Status status = MultilabelMarginLoss(arguments, nullptr);
  EXPECT_TRUE(status.ok()) << golden.Name() << ": " << status.message();
  char hex[17];
  std::snprintf(hex, sizeof(hex), "%016llx",
                static_cast<unsigned long long>(HashBytes(mask, HashBytes(losses, kEmptyHash))));
  return hex;
}

// What `compute` gives on each target; all must agree. "" if they do not.
std::string HashOnAllTargets(const std::string& name, const std::function<std::string()>& compute) {
  std::string common;
  std::string differences;
  for (const std::string& target : SupportedTargets()) {
    const Status status = SetTarget(target);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(Target(), target);
    const std::string hash = compute();
    differences += " " + target + " " + hash;
    if (common.empty()) common = hash;
    if (hash != common) common = "differs";
  }
  if (common != "differs") return common;
  ADD_FAILURE() << name << " differs between targets:" << differences;
  return "";
}

std::vector<Line> ComputeLines() {
  std::vector<Line> lines;
  for (const GoldenCase& golden : GoldenCases()) {
    const GoldenBatch batch = MakeGoldenBatch(golden);
    for (const RowMethod& method : RowMethods()) {
      method.choose();
      const std::string name = golden.Name() + method.suffix;
      lines.push_back({name, HashOnAllTargets(name, [&] { return HashOfResult(golden, batch); })});
    }
  }
  return lines;
}

TEST(GoldenTest, ResultsHaveTheHashesOfTheFileOnEveryTarget) {
  std::string targets;
  for (const std::string& target : SupportedTargets()) targets += " " + target;
  std::cout << "Targets:" << targets << std::endl;

  const std::vector<Line> computed = ComputeLines();
  RowMethods().front().choose();
  ASSERT_TRUE(SetTarget("").ok());
  if (const char* const path = std::getenv(kUpdate)) {
    WriteLines(computed, path);
    return;
  }
  const std::vector<Line> expected = ReadLines(kFile);
  ASSERT_EQ(computed.size(), expected.size()) << kFile << " is not of these cases";
  for (size_t i = 0; i < computed.size(); ++i) {
    ASSERT_EQ(computed[i].name, expected[i].name) << kFile << " is not of these cases";
    if (computed[i].hash.empty()) continue;  // Has been reported.
    EXPECT_EQ(computed[i].hash, expected[i].hash) << computed[i].name << " on" << targets;
  }
}

// Makes the machine take subnormals for zero.
void FlushSubnormals() {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
  fpu_control_t control;
  _FPU_GETCW(control);
  _FPU_SETCW(control | 1u << 24);
#endif
}

// The hash that a case gives in the floating-point environment that `set` makes. The call
// must leave the caller's environment as it was.
std::string HashIn(const std::function<void()>& set, const GoldenCase& golden,
                   const GoldenBatch& batch) {
  std::fenv_t saved;
  std::fegetenv(&saved);
  set();
  const int rounding = std::fegetround();
  const std::string hash = HashOfResult(golden, batch);
  EXPECT_EQ(std::fegetround(), rounding);
  std::fesetenv(&saved);
  return hash;
}

TEST(GoldenTest, TheCallersFloatingPointEnvironmentDoesNotShow) {
  const std::vector<std::function<void()>> environments = {
      [] { std::fesetround(FE_UPWARD); }, [] { std::fesetround(FE_DOWNWARD); },
      [] { std::fesetround(FE_TOWARDZERO); }, FlushSubnormals};
  for (const GoldenCase& golden : GoldenCases()) {
    // Short rows, and long ones that are computed in parts.
    const bool is_long = golden.classes > 100000 && golden.density == GoldenDensity::kFew;
    if (golden.classes > 129 && !is_long) continue;
    const GoldenBatch batch = MakeGoldenBatch(golden);
    for (const RowMethod& method : RowMethods()) {
      method.choose();
      const std::string plain = HashOfResult(golden, batch);
      for (const auto& environment : environments) {
        EXPECT_EQ(HashIn(environment, golden, batch), plain) << golden.Name() << method.suffix;
      }
    }
  }
  RowMethods().front().choose();
}

}  // namespace
}  // namespace mlmargin::testing
