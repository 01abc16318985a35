// SPDX-License-Identifier: Apache-2.0
// The command mlmargin.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <limits>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.h"
#include "environment/edit_distance.h"
#include "error.h"
#include "mlmargin/version.h"

namespace mlmargin::tools {
namespace {

constexpr int kExitError = 2;

constexpr char kFilesHelp[] = R"(
SCORES is a .npy file of rows x classes (or of one row): float16, float32, float64, or uint16 with the
bits of bfloat16. LABELS is one of
  a .npy file of int32 or int64, a list of class numbers a row, padded by -1;
  the indices of a CSR matrix, whose offsets are given with --offsets;
  a .npz file that scipy.sparse.save_npz wrote of a CSR matrix;
  with --multihot, a matrix like the scores, 0 where a class is no label.
FILE.npz:NAME is an array in a .npz file.
)";

constexpr char kLossExamples[] = R"(
Examples:
  mlmargin loss scores.npy labels.npy
  mlmargin loss scores.npy labels.npy --reduction none --output losses.npy
  mlmargin loss scores.npy labels.npz --gradient gradient.npy
  mlmargin loss batch.npz:scores batch.npz:labels --multihot --json
)";

constexpr char kCheckExamples[] = R"(
Exit status: 0 nothing is wrong, 1 something is, 2 the files cannot be used.

Examples:
  mlmargin check scores.npy labels.npy
  mlmargin check scores.npy indices.npy --offsets offsets.npy --json
)";

void AddFiles(CLI::App* command, BatchFiles* files) {
  command->add_option("SCORES", files->scores, "File of the scores")->required()->type_name("");
  command->add_option("LABELS", files->labels, "File of the labels")->required()->type_name("");
  command->add_option("--offsets", files->offsets, "File of the offsets of CSR labels")
      ->type_name("FILE");
  command->add_flag("--multihot", files->multihot, "LABELS is a matrix of 0 and 1");
}

void AddJson(CLI::App* command, bool* json) { command->add_flag("--json", *json, "Print JSON"); }

void AddThreads(CLI::App* command, int* threads) {
  const auto check = [](const std::string& text) {
    int count = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, count);
    if (error == std::errc() && stop == end && count >= 1) return std::string();
    return fmt::format("expected a whole number from 1 to {}, got {}",
                       std::numeric_limits<int>::max(), text);
  };
  command->add_option("--threads", *threads, "At most so many threads")
      ->type_name("COUNT")
      ->check(CLI::Validator(check, ""));
}

void AddOutput(CLI::App* command, const char* name, std::string* path, const char* help) {
  const auto check = [](const std::string& text) {
    if (text.empty()) return "expected the name of a file, got none";
    return text.ends_with(".npz") ? "archives are only read; expected the name of a .npy file" : "";
  };
  command->add_option(name, *path, help)->type_name("FILE")->check(CLI::Validator(check, ""));
}

void AddReduction(CLI::App* command, Reduction* reduction) {
  const auto set = [reduction](const std::string& text) {
    constexpr std::pair<const char*, Reduction> kNames[] = {
        {"none", Reduction::kNone}, {"mean", Reduction::kMean}, {"sum", Reduction::kSum}};
    for (const auto& [name, value] : kNames) {
      if (text != name) continue;
      *reduction = value;
      return;
    }
    throw CLI::ValidationError("--reduction",
                               fmt::format("expected none, mean or sum, got {}", text));
  };
  command->add_option_function<std::string>("--reduction", set, "none, mean (default) or sum")
      ->type_name("NAME");
}

void AddLoss(CLI::App* app, LossOptions* options) {
  CLI::App* const command =
      app->add_subcommand("loss", "Compute the loss, and the mask or the gradient where asked for");
  AddFiles(command, &options->files);
  AddReduction(command, &options->reduction);
  AddOutput(command, "--output", &options->output,
            "Write the loss to this .npy file; - prints it (default)");
  AddOutput(command, "--mask", &options->mask,
            "Write the mask, 1 at labels, to this .npy file; - prints it");
  AddOutput(command, "--gradient", &options->gradient,
            "Write the gradient of the loss to this .npy file; - prints it");
  AddThreads(command, &options->threads);
  AddJson(command, &options->json);
  command->footer(std::string(kFilesHelp) + kLossExamples);
}

void AddCheck(CLI::App* app, CheckOptions* options) {
  CLI::App* const command = app->add_subcommand("check", "Tell what is wrong with labels");
  AddFiles(command, &options->files);
  AddJson(command, &options->json);
  command->footer(std::string(kFilesHelp) + kCheckExamples);
}

void AddBench(CLI::App* app, BenchOptions* options) {
  CLI::App* const command =
      app->add_subcommand("bench", "Time the loss on the shapes of published data sets");
  command->add_option("--filter", options->filter, "Only shapes with this in their name")
      ->type_name("TEXT");
  AddThreads(command, &options->threads);
  AddJson(command, &options->json);
  command->footer(
      "\nExamples:\n  mlmargin bench\n  mlmargin bench --filter half-dense --threads 1\n");
}

// The one of some that a word may have been meant for, as a question.
std::string MeantName(const std::string& word, const std::vector<std::string>& names) {
  const auto distance = [&](const std::string& name) {
    return environment::EditDistance(word, name);
  };
  const auto nearest = std::min_element(
      names.begin(), names.end(),
      [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
  if (nearest == names.end() || distance(*nearest) > 2) return {};
  return fmt::format(" (did you mean {}?)", *nearest);
}

// The parser would only miss a command.
void RequireCommand(const CLI::App& app, const std::string& word) {
  if (!word.empty() && app.get_option_no_throw(word) != nullptr) return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  throw ToolError(fmt::format("there is no command {}{}; expected one of {} (see mlmargin --help)",
                              word, MeantName(word, names), fmt::join(names, ", ")));
}

// What the parser would say of a positional argument that is missing.
[[noreturn]] void FailForFiles(const CLI::App& app) {
  const CLI::App* const command = app.get_subcommands().front();
  const auto& scores = command->get_option("SCORES")->results();
  throw ToolError(fmt::format(
      "{0} takes two files, SCORES (rows x classes) and LABELS (the classes of each row that are "
      "labels), got {1}; see mlmargin {0} --help",
      command->get_name(), scores.empty() ? "none" : "only " + scores.front()));
}

// What the parser would say of words that are left over, in its order.
[[noreturn]] void FailForExtras(const CLI::App& app) {
  const CLI::App* const command = app.get_subcommands().front();
  // Behind a "--" they are left to the program itself.
  std::vector<std::string> words = app.remaining(/*recurse=*/true);
  std::erase(words, "--");
  if (words.empty()) words.emplace_back("--");
  const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
  const auto option = std::find_if(words.begin(), words.end(), is_option);
  if (option == words.end() || *option == "--") {
    throw ToolError(fmt::format("{} is one argument too many; see mlmargin {} --help",
                                words.front(), command->get_name()));
  }
  std::vector<std::string> names;
  for (const CLI::Option* known : command->get_options()) names.push_back(known->get_name());
  const std::string name = option->substr(0, option->find('='));
  throw ToolError(fmt::format("there is no option {}{}; see mlmargin {} --help", name,
                              MeantName(name, names), command->get_name()));
}

int Run(int argc, char** argv) {
  CLI::App app("The multilabel margin loss of scores and labels in NumPy files.", "mlmargin");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("mlmargin {}.{}.{}", MLMARGIN_VERSION_MAJOR,
                                                MLMARGIN_VERSION_MINOR, MLMARGIN_VERSION_PATCH));
  app.footer("\nmlmargin COMMAND --help has the options and examples of a command.\n");
  LossOptions loss;
  CheckOptions check;
  BenchOptions bench;
  bool info_json = false;
  AddLoss(&app, &loss);
  AddCheck(&app, &check);
  AddBench(&app, &bench);
  AddJson(app.add_subcommand("info", "Show version, SIMD targets, threads and settings"),
          &info_json);
  if (argc <= 1) {
    fmt::print(stderr, "{}", app.help());
    return kExitError;
  }
  RequireCommand(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError&) {
    FailForFiles(app);
  } catch (const CLI::ExtrasError&) {
    FailForExtras(app);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    throw ToolError(error.what());
  }
  if (app.got_subcommand("loss")) return RunLoss(loss);
  if (app.got_subcommand("check")) return RunCheck(check);
  if (app.got_subcommand("bench")) return RunBench(bench);
  return RunInfo(info_json);
}

}  // namespace
}  // namespace mlmargin::tools

int main(int argc, char** argv) {
  try {
    const int status = mlmargin::tools::Run(argc, argv);
    if (std::fflush(stdout) == 0) return status;
    fmt::print(stderr, "mlmargin: the output could not be written\n");
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "mlmargin: there is not enough memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "mlmargin: {}\n", error.what());
  }
  return mlmargin::tools::kExitError;
}
