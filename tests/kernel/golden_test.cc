// SPDX-License-Identifier: Apache-2.0
// The same inputs give the same bits on every machine: hashes of the results are kept in
// golden_hashes.txt, and every target of every machine must give them.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
constexpr const char* kUpdate = "UPDATE_GOLDEN";

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
      << "# Hashes of losses and masks, and of gradients, by golden_test.cc; for float64 both. To\n"
      << "# make them anew, after a change that\n"
      << "# is meant to change results: " << kUpdate
      << "=<this file> build/debug/bin/golden_tests\n";
  for (const Line& line : lines) file << line.name << " " << line.hash << "\n";
  EXPECT_TRUE(file.flush()) << "cannot write " << path;
}

std::string Hex(uint64_t hash) {
  char hex[17];
  std::snprintf(hex, sizeof(hex), "%016llx", static_cast<unsigned long long>(hash));
  return hex;
}

struct Hashes {
  std::string result;    // Of the losses and, behind them, the mask.
  std::string gradient;  // Empty if there was none.
};

size_t ScoreBytes(ScoreType type) {
  if (type == ScoreType::kFloat64) return 8;
  return type == ScoreType::kFloat32 ? 4 : 2;
}

// Runs a case.
Hashes Run(const GoldenCase& golden, const GoldenBatch& batch, bool with_gradient) {
  const size_t bytes = ScoreBytes(golden.score_type);
  const bool none = golden.reduction == Reduction::kNone;
  std::vector<unsigned char> losses(bytes * static_cast<size_t>(none ? golden.rows : 1), 0xA5);
  std::vector<unsigned char> mask(bytes * static_cast<size_t>(golden.rows * golden.classes), 0xA5);
  std::vector<unsigned char> gradient(mask.size(), 0xA5);
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
  if (with_gradient) arguments.grad_scores = {gradient.data(), golden.classes, 1};
  const Status status = MultilabelMarginLoss(arguments, nullptr);
  EXPECT_TRUE(status.ok()) << golden.Name() << ": " << status.message();
  return {Hex(HashBytes(mask, HashBytes(losses, kEmptyHash))),
          with_gradient ? Hex(HashBytes(gradient, kEmptyHash)) : ""};
}

std::string HashOfResult(const GoldenCase& golden, const GoldenBatch& batch) {
  return Run(golden, batch, false).result;
}

// The same scores as doubles.
GoldenBatch Widen(const GoldenBatch& batch) {
  GoldenBatch wide;
  wide.label_columns = batch.label_columns;
  wide.labels = batch.labels;
  wide.scores.resize(batch.scores.size() * 2);
  for (size_t i = 0; i < batch.scores.size() / sizeof(float); ++i) {
    float narrow;
    std::memcpy(&narrow, batch.scores.data() + i * sizeof(narrow), sizeof(narrow));
    const auto value = static_cast<double>(narrow);
    std::memcpy(wide.scores.data() + i * sizeof(value), &value, sizeof(value));
  }
  return wide;
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

// The gradient is the same whichever kernel computes the row, and to compute it changes nothing
// else: one line for all.
void AddGradientLine(const GoldenCase& golden, const GoldenBatch& batch, std::vector<Line>* lines) {
  const std::string name = golden.Name() + "/gradient";
  std::string common;
  for (const RowMethod& method : RowMethods()) {
    method.choose();
    const std::string result = HashOfResult(golden, batch);
    const std::string hash = HashOnAllTargets(name + method.suffix, [&] {
      const Hashes hashes = Run(golden, batch, true);
      EXPECT_EQ(hashes.result, result) << name << method.suffix;
      return hashes.gradient;
    });
    if (common.empty()) common = hash;
    EXPECT_EQ(hash, common) << name << method.suffix;
  }
  lines->push_back({name, common});
}

// float64 has one kernel, for all targets.
void AddDoubleLine(GoldenCase golden, const GoldenBatch& batch, std::vector<Line>* lines) {
  const std::string name = golden.Name() + "/float64";
  golden.score_type = ScoreType::kFloat64;
  const Hashes hashes = Run(golden, Widen(batch), true);
  lines->push_back({name, hashes.result + hashes.gradient});
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
    AddGradientLine(golden, batch, &lines);
    if (golden.score_type == ScoreType::kFloat32) AddDoubleLine(golden, batch, &lines);
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

// Of the result and the gradient.
std::string HashOfAll(const GoldenCase& golden, const GoldenBatch& batch) {
  const Hashes hashes = Run(golden, batch, true);
  return hashes.result + hashes.gradient;
}

// The hash that a case gives in the floating-point environment that `set` makes. The call
// must leave the caller's environment as it was.
std::string HashIn(const std::function<void()>& set, const GoldenCase& golden,
                   const GoldenBatch& batch) {
  std::fenv_t saved;
  std::fegetenv(&saved);
  set();
  const int rounding = std::fegetround();
  const std::string hash = HashOfResult(golden, batch) + HashOfAll(golden, batch);
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
      const std::string plain = HashOfResult(golden, batch) + HashOfAll(golden, batch);
      for (const auto& environment : environments) {
        EXPECT_EQ(HashIn(environment, golden, batch), plain) << golden.Name() << method.suffix;
      }
    }
    if (golden.score_type != ScoreType::kFloat32) continue;
    GoldenCase wide = golden;
    wide.score_type = ScoreType::kFloat64;
    const GoldenBatch doubles = Widen(batch);
    const std::string plain = HashOfResult(wide, doubles) + HashOfAll(wide, doubles);
    for (const auto& environment : environments) {
      EXPECT_EQ(HashIn(environment, wide, doubles), plain) << golden.Name() << " as float64";
    }
  }
  RowMethods().front().choose();
}

}  // namespace
}  // namespace mlmargin::testing
