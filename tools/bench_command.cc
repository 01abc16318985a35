// SPDX-License-Identifier: Apache-2.0
// mlmargin bench: the benchmark's shapes, a moment each, beside the memory traffic of a loss.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "batch.h"
#include "cases.h"
#include "check.h"
#include "commands.h"
#include "error.h"
#include "floor.h"
#include "machine.h"
#include "measure.h"
#include "mlmargin/settings.h"
#include "progress.h"

namespace mlmargin::tools {
namespace {

struct Row {
  bench::Case what;
  bench::Comparison times;

  double GigabytesPerSecond() const {
    constexpr double kBytes = 2 * sizeof(float);  // A score is read, and its mask written.
    const auto elements = static_cast<double>(what.shape.rows * what.shape.classes);
    return elements * kBytes / times.seconds / 1e9;
  }
};

std::vector<bench::Case> WantedCases(const BenchOptions& options) {
  const int threads = NumThreads();
  std::vector<bench::Case> cases = bench::AllCases({threads}, threads);
  std::erase_if(cases, [&](const bench::Case& what) {
    const bool plain = what.pass == bench::Pass::kLoss && what.score_type == ScoreType::kFloat32 &&
                       what.label_type == LabelType::kInt64;
    const bool for_plots = what.shape.group == "labels" || what.shape.group == "threads";
    return !plain || for_plots || what.Name().find(options.filter) == std::string::npos;
  });
  if (cases.empty()) {
    throw ToolError(fmt::format("no shape has '{}' in its name", options.filter));
  }
  return cases;
}

Row Measure(const bench::Case& what) {
  const bench::Batch batch = bench::MakeBatch(what.shape);
  bench::Tensors tensors(batch, what.score_type, what.label_type);
  bench::CheckResults(batch, &tensors);
  const LossArguments call = tensors.Call(Reduction::kMean, what.pass);
  const bench::Limits limits = {.min_turns = 3, .min_seconds = 0.1};
  return {what, bench::Compare(
                    bench::FloorWays(tensors.scores.data(), tensors.mask.data(),
                                     tensors.mask.size(), what.threads),
                    [&call] { bench::CallLoss(call); }, limits, [](double) {})};
}

void PrintTable(const std::vector<Row>& rows) {
  const bench::Machine machine = bench::DescribeMachine();
  fmt::print("{}, {} threads, {}; float32, int64, minima\n\n", machine.cpu, rows[0].what.threads,
             machine.target);
  fmt::print("{:<28} {:>14} {:>7} {:>11} {:>8} {:>7}\n", "shape", "rows x classes", "labels",
             "time", "GB/s", "floor");
  for (const Row& row : rows) {
    const bench::Shape& shape = row.what.shape;
    fmt::print("{:<28} {:>14} {:>7} {:>8.3f} ms {:>8.1f} {:>6.2f}x\n",
               shape.group + "/" + shape.name, fmt::format("{} x {}", shape.rows, shape.classes),
               shape.labels, row.times.seconds * 1e3, row.GigabytesPerSecond(),
               row.times.seconds / row.times.floor_seconds);
  }
  fmt::print(
      "\nfloor: how often the time of reading the scores and writing a mask, the least there "
      "is\n");
}

void PrintJson(const std::vector<Row>& rows) {
  nlohmann::json cases = nlohmann::json::array();
  for (const Row& row : rows) {
    const bench::Shape& shape = row.what.shape;
    cases.push_back({{"name", shape.group + "/" + shape.name},
                     {"rows", shape.rows},
                     {"classes", shape.classes},
                     {"labels", shape.labels},
                     {"seconds", row.times.seconds},
                     {"floor_seconds", row.times.floor_seconds}});
  }
  const nlohmann::json json = {
      {"threads", rows[0].what.threads}, {"target", Target()}, {"cases", cases}};
  fmt::print("{}\n", json.dump());
}

}  // namespace

int RunBench(const BenchOptions& options) {
  const Status status = SetNumThreads(options.threads);
  if (!status.ok()) throw ToolError(status.message());
  const std::vector<bench::Case> cases = WantedCases(options);
  std::vector<Row> rows;
  {
    Progress progress("shapes", static_cast<int64_t>(cases.size()));
    for (const bench::Case& what : cases) {
      rows.push_back(Measure(what));
      progress.Set(static_cast<int64_t>(rows.size()));
    }
  }
  if (options.json) {
    PrintJson(rows);
  } else {
    PrintTable(rows);
  }
  return 0;
}

}  // namespace mlmargin::tools
