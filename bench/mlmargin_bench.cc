// SPDX-License-Identifier: Apache-2.0
// The time of the loss beside that of the memory traffic it cannot avoid and of PyTorch's, in
// turns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "batch.h"
#include "cases.h"
#include "check.h"
#include "floor.h"
#include "measure.h"
#include "memory.h"
#include "mlmargin/settings.h"
#include "pytorch.h"
#include "report.h"
#include "small_call.h"

namespace mlmargin::bench {
namespace {

struct Options {
  std::string filter;
  std::string json;
  int threads = 0;
  bool quick = false;
  bool no_pytorch = false;
  bool list = false;
  std::string worker = BENCH_SOURCE_DIR "/pytorch_worker.py";
  Limits limits;
};

constexpr const char* kSmallCallName = "small-call";

void UseThreads(int threads) {
  const Status status = SetNumThreads(threads);
  if (!status.ok()) throw std::runtime_error(status.message());
}

// PyTorch's runs of one case: spread over the turns, few, and no longer than bearable.
class PyTorchRuns {
 public:
  // `pytorch` may be null: there are no runs then.
  PyTorchRuns(PyTorch* pytorch, const Tensors& tensors, bool quick)
      : pytorch_(pytorch), tensors_(tensors), max_turns_(quick ? 1 : 5) {
    if (pytorch_ == nullptr) return;
    times_.rows = PyTorch::BearableRows(tensors.shape);
    pytorch_->Load(tensors_, times_.rows);
  }
  ~PyTorchRuns() {
    try {
      if (pytorch_ != nullptr) pytorch_->Unload();
    } catch (const std::exception&) {
      // What broke it has been thrown by Turn().
    }
  }
  PyTorchRuns(const PyTorchRuns&) = delete;
  PyTorchRuns& operator=(const PyTorchRuns&) = delete;

  // To be called while the turns go on; `fraction` of them is over.
  void Turn(double fraction) {
    if (pytorch_ == nullptr || times_.turns >= max_turns_ || spent_seconds_ > kMaxSeconds) return;
    if (fraction * max_turns_ < times_.turns) return;
    const PyTorch::Result result = pytorch_->Run(kTurnSeconds);
    if (times_.turns == 0) CheckAgainstPyTorch(tensors_, times_.rows, result.loss);
    const double scale =
        static_cast<double>(tensors_.shape.rows) / static_cast<double>(times_.rows);
    const double seconds = result.seconds * scale;
    times_.seconds = times_.turns == 0 ? seconds : std::min(times_.seconds, seconds);
    spent_seconds_ += std::max(result.seconds, kTurnSeconds);
    ++times_.turns;
  }

  std::optional<PyTorchTimes> Times() const {
    return pytorch_ == nullptr ? std::nullopt : std::optional(times_);
  }

 private:
  static constexpr double kTurnSeconds = 0.03, kMaxSeconds = 8;

  PyTorch* pytorch_;
  const Tensors& tensors_;
  int max_turns_;
  double spent_seconds_ = 0;
  PyTorchTimes times_;
};

Measurement Measure(const Case& what, Tensors* tensors, PyTorch* pytorch, const Options& options) {
  const LossArguments call = tensors->Call(Reduction::kMean, what.pass);
  const auto run = [&call] { CallLoss(call); };
  Measurement measurement{.what = what, .times = {}, .extra_bytes = {}, .pytorch = {}};
  {
    PyTorchRuns pytorch_runs(what.against_pytorch ? pytorch : nullptr, *tensors, options.quick);
    // It looks at the row losses, which the timed calls overwrite.
    pytorch_runs.Turn(0);
    measurement.times = Compare(
        FloorWays(tensors->scores.data(), tensors->mask.data(), tensors->mask.size(), what.threads),
        run, options.limits, [&](double fraction) { pytorch_runs.Turn(fraction); });
    measurement.pytorch = pytorch_runs.Times();
  }
  measurement.extra_bytes = PeakExtraBytes(run);
  return measurement;
}

// Throws if another number of threads changed a bit.
void RequireSameBits(const std::vector<float>& before, const Tensors& tensors) {
  if (std::memcmp(before.data(), tensors.losses.data(), before.size() * sizeof(float)) != 0) {
    throw std::runtime_error("the row losses hang on the number of threads");
  }
}

void RunCases(const std::vector<Case>& cases, PyTorch* pytorch, const Options& options,
              Report* report) {
  std::optional<Batch> batch;
  std::unique_ptr<Tensors> tensors;
  std::vector<float> first_losses;
  for (const Case& what : cases) {
    try {
      const Shape& shape = what.shape;
      const bool other_shape =
          !batch || batch->shape.group != shape.group || batch->shape.name != shape.name;
      if (other_shape) batch = MakeBatch(shape);
      const bool other_tensors = other_shape || tensors->score_type != what.score_type ||
                                 tensors->label_type != what.label_type;
      if (other_tensors) {
        tensors.reset();
        tensors = std::make_unique<Tensors>(*batch, what.score_type, what.label_type);
      }
      UseThreads(what.threads);
      CheckResults(*batch, tensors.get());
      if (what.pass != Pass::kLoss) CheckGradient(tensors.get());
      if (other_tensors) {
        first_losses = tensors->losses;
      } else {
        RequireSameBits(first_losses, *tensors);
      }
      report->Add(Measure(what, tensors.get(), pytorch, options));
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{}: {}", what.Name(), error.what()));
    }
  }
}

std::vector<Case> WantedCases(const Options& options) {
  UseThreads(0);
  const int all = NumThreads();
  std::vector<int> thread_counts = {1};
  if (options.threads > 0) {
    thread_counts = {std::min(options.threads, all)};
  } else if (all > 1) {
    thread_counts.push_back(all);
  }
  std::vector<Case> cases = AllCases(thread_counts, all);
  std::erase_if(cases, [&](const Case& what) {
    return what.Name().find(options.filter) == std::string::npos;
  });
  return cases;
}

void Run(Options options) {
  if (options.quick) options.limits = {.min_turns = 2, .min_seconds = 0.01};
  const std::vector<Case> cases = WantedCases(options);
  const bool small_call =
      std::string_view(kSmallCallName).find(options.filter) != std::string_view::npos;
  if (cases.empty() && !small_call) {
    throw std::runtime_error("no case has '" + options.filter + "' in its name; see --list");
  }
  if (options.list) {
    for (const Case& what : cases) fmt::print("{}\n", what.Name());
    if (small_call) fmt::print("{}\n", kSmallCallName);
    return;
  }
  std::optional<PyTorch> pytorch;
  if (!options.no_pytorch) {
    pytorch.emplace(options.worker);
    if (!pytorch->available()) {
      fmt::print(stderr, "without PyTorch: {}\n", pytorch->version());
      pytorch.reset();
    }
  }
  PyTorch* const contender = pytorch ? &*pytorch : nullptr;
  Report report(pytorch ? pytorch->version() : "", options.limits);
  report.PrintMachine();
  if (small_call) report.Add(MeasureSmallCall(contender, options.quick ? 2 : 25));
  RunCases(cases, contender, options, &report);
  if (!options.json.empty()) report.WriteJson(options.json);
}

}  // namespace
}  // namespace mlmargin::bench

int main(int argc, char** argv) {
  mlmargin::bench::Options options;
  CLI::App app(
      "Times the loss, in turns with the least memory traffic it could cause (the floor) and with "
      "PyTorch, for the published shapes and others. PyTorch is left out where Debian's "
      "python3-torch and python3-numpy are not installed.");
  app.add_option("--filter", options.filter, "Only cases with this in their name (see --list)");
  app.add_option("--json", options.json, "Write all figures to this file");
  app.add_option("--threads", options.threads,
                 "So many threads (default: one, and as many as there are CPUs)")
      ->check(CLI::PositiveNumber);
  app.add_option("--min-seconds", options.limits.min_seconds, "The least time of a case's turns")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--quick", options.quick, "Few turns: shows that it runs, not how fast");
  app.add_flag("--no-pytorch", options.no_pytorch, "Leave PyTorch out");
  app.add_flag("--list", options.list, "Print the names of the cases and end");
  app.add_option("--pytorch-worker", options.worker, "The program that runs PyTorch")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    mlmargin::bench::Run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "mlmargin_bench: {}\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
