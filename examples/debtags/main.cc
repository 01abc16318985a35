// SPDX-License-Identifier: Apache-2.0
// Guesses the tags of Debian packages from their names and one-line descriptions, and computes
// the multilabel margin loss of the guesses through the aclnn API.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "debtags/acl_loss.h"
#include "debtags/dataset.h"
#include "debtags/evaluation.h"
#include "debtags/package_index.h"
#include "debtags/tagger.h"

namespace debtags {
namespace {

struct Options {
  std::string input;
  std::string architecture;
  int held_out_percent = 20;
};

// Shows how far a piece of work is, on a terminal only.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }

  void Show(std::string_view what, size_t done) {
    if (isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr, "\r\033[K{}: {} packages", what, done);
    shown_ = true;
  }

  Progress For(std::string what) {
    return [this, what](size_t done) { Show(what, done); };
  }

 private:
  bool shown_ = false;
};

std::string NativeArchitecture() {
  std::string architecture = ReadCommand("dpkg --print-architecture");
  return architecture.substr(0, architecture.find('\n'));
}

std::vector<Package> LoadPackages(const Options& options) {
  const std::string index =
      options.input.empty() ? ReadCommand("apt-cache dumpavail") : ReadFile(options.input);
  const std::string architecture =
      options.architecture.empty() ? NativeArchitecture() : options.architecture;
  std::vector<Package> packages = ParsePackageIndex(index, architecture);
  if (packages.empty()) {
    throw std::runtime_error(
        options.input.empty()
            ? "the package index has no tagged packages: run `apt-get update` as root first"
            : fmt::format("{} has no tagged packages for the architecture {} or all", options.input,
                          architecture));
  }
  return packages;
}

std::vector<Knobs> Grid(std::span<const float> evidences) {
  constexpr std::array kScales = {0.1f, 0.15f, 0.2f, 0.3f, 0.4f, 0.5f, 0.7f, 1.0f};
  std::vector<Knobs> grid;
  for (const float evidence : evidences) {
    for (const float scale : kScales) grid.push_back({evidence, scale});
  }
  return grid;
}

// Packages with the same number of tags, or a few numbers.
struct LabelBin {
  size_t first;
  size_t last;
  std::string name;
};

void PrintByLabels(std::span<const Example> examples, const Quality& by_frequency,
                   const Quality& by_words) {
  const std::array<LabelBin, 7> bins = {{{1, 1, "1"},
                                         {2, 2, "2"},
                                         {3, 3, "3"},
                                         {4, 5, "4-5"},
                                         {6, 8, "6-8"},
                                         {9, 12, "9-12"},
                                         {13, SIZE_MAX, "13 and more"}}};
  fmt::print("\n{:<16}{:>10}{:>14}{:>12}\n", "loss by tags", "packages", "by frequency",
             "by words");
  for (const LabelBin& bin : bins) {
    size_t count = 0;
    double frequency = 0;
    double words = 0;
    for (size_t i = 0; i < examples.size(); ++i) {
      const size_t num_labels = examples[i].labels.size();
      if (num_labels < bin.first || num_labels > bin.last) continue;
      ++count;
      frequency += static_cast<double>(by_frequency.losses[i]);
      words += static_cast<double>(by_words.losses[i]);
    }
    if (count == 0) continue;
    const double divisor = static_cast<double>(count);
    fmt::print("{:<16}{:>10}{:>14.4f}{:>12.4f}\n", bin.name, count, frequency / divisor,
               words / divisor);
  }
}

void PrintData(const std::vector<Package>& packages, const Dataset& data) {
  size_t num_labels = 0;
  for (const Package& package : packages) num_labels += package.tags.size();
  fmt::print("{} packages, {} tags, {:.2f} tags a package on average\n", packages.size(),
             data.num_tags, static_cast<double>(num_labels) / static_cast<double>(packages.size()));
  fmt::print("{} packages to learn from, {} held out\n\n", data.fitting.size() + data.tuning.size(),
             data.held_out.size());
}

// A way to score tags, as tuned, and how it did.
struct Contender {
  std::string name;
  Knobs knobs;
  Quality quality;
};

// Chooses the knobs on the tuning packages, with a tagger that has not seen them.
void Tune(const Dataset& data, Evaluator* evaluator, ProgressLine* progress,
          Contender* by_frequency, Contender* by_words) {
  const Tagger draft(data.fitting, data.num_tags);
  by_frequency->knobs = evaluator->Tune(draft, Grid(std::array{0.0f}), data.tuning,
                                        progress->For("tuning by frequency"));
  by_words->knobs = evaluator->Tune(draft, Grid(std::array{0.2f, 0.3f, 0.4f, 0.5f, 0.7f, 1.0f}),
                                    data.tuning, progress->For("tuning by words"));
}

// A tagger that has learned from all packages but the held-out ones.
Tagger LearnFromAll(const Dataset& data) {
  std::vector<Example> examples = data.fitting;
  examples.insert(examples.end(), data.tuning.begin(), data.tuning.end());
  return Tagger(examples, data.num_tags);
}

void PrintQuality(const Contender& contender) {
  const Quality& quality = contender.quality;
  fmt::print("{:<16}{:>10.4f}{:>17.3f}{:>17.3f}{:>8.2f}{:>11.2f}\n", contender.name,
             quality.mean_loss, quality.precision_at_1, quality.precision_at_5,
             contender.knobs.scale, contender.knobs.evidence);
}

void Run(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Package> packages = LoadPackages(options);
  const Dataset data = MakeDataset(packages, options.held_out_percent);
  if (data.fitting.empty() || data.tuning.empty() || data.held_out.empty()) {
    throw std::runtime_error("too few packages to learn from some and judge by others");
  }
  PrintData(packages, data);

  const AclDevice device;
  Evaluator evaluator(static_cast<size_t>(data.num_tags));
  Contender by_frequency{.name = "by frequency", .knobs = {}, .quality = {}};
  Contender by_words{.name = "by words", .knobs = {}, .quality = {}};
  {
    ProgressLine progress;
    Tune(data, &evaluator, &progress, &by_frequency, &by_words);
    const Tagger tagger = LearnFromAll(data);
    for (Contender* contender : {&by_frequency, &by_words}) {
      contender->quality = evaluator.Evaluate(tagger, contender->knobs, data.held_out,
                                              progress.For("judging " + contender->name));
    }
  }

  fmt::print("{:<16}{:>10}{:>17}{:>17}{:>8}{:>11}\n", "tags scored", "loss", "precision at 1",
             "precision at 5", "scale", "evidence");
  PrintQuality(by_frequency);
  PrintQuality(by_words);
  PrintByLabels(data.held_out, by_frequency.quality, by_words.quality);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("\n{:.1f} s in all; the loss of {} x {} scores took {:.2f} ms\n", seconds.count(),
             data.held_out.size(), data.num_tags, by_words.quality.loss_milliseconds);
}

}  // namespace
}  // namespace debtags

int main(int argc, char** argv) {
  debtags::Options options;
  CLI::App app(
      "Guesses the tags of Debian packages and computes the multilabel margin loss of the guesses");
  app.add_option("--input", options.input, "A saved `apt-cache dumpavail`, instead of running it");
  app.add_option("--architecture", options.architecture,
                 "The packages to take, besides those for all (default: this machine's)");
  app.add_option("--held-out", options.held_out_percent, "Percent of the packages to judge by")
      ->check(CLI::Range(1, 90))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    debtags::Run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "debtags: {}\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
