// SPDX-License-Identifier: Apache-2.0
#include "kernel/settings.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>

#include "environment/unknown_variables.h"
#include "kernel/parallel_for.h"

namespace mlmargin {
namespace kernel {
namespace {

struct Settings {
  std::once_flag read;
  std::atomic<int> num_threads = 0;  // 0: the default.
  std::atomic<LabelCheck> label_check = LabelCheck::kWarn;
  std::string errors;  // Written once, under `read`.
};

// Never destroyed: detached threads may ask while the process exits.
Settings& TheSettings() {
  static Settings* const settings = new Settings;
  return *settings;
}

bool ParseThreads(std::string_view text, Settings* settings) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return false;
  settings->num_threads = value;
  return true;
}

bool ParseLabelCheck(std::string_view text, Settings* settings) {
  constexpr std::pair<std::string_view, LabelCheck> kNames[] = {
      {"ignore", LabelCheck::kIgnore}, {"warn", LabelCheck::kWarn}, {"error", LabelCheck::kError}};
  for (const auto& [name, check] : kNames) {
    if (text == name) {
      settings->label_check = check;
      return true;
    }
  }
  return false;
}

void ReadVariable(const char* name, const char* expected, Settings* settings,
                  bool (*parse)(std::string_view, Settings*)) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0' || parse(text, settings)) return;
  settings->errors +=
      std::string(name) + " must be " + expected + ", got \"" + text + "\"; it is ignored\n";
}

void ReadEnvironment(Settings* settings) {
  environment::NameUnknownVariables();
  settings->errors.clear();  // Of a try that ran out of memory.
  ReadVariable("MLMARGIN_NUM_THREADS", "a whole number from 1", settings, ParseThreads);
  ReadVariable("MLMARGIN_LABEL_CHECK", "ignore, warn or error", settings, ParseLabelCheck);
  if (const char* const target = std::getenv("MLMARGIN_TARGET")) {
    const Status status = ForceTarget(target);
    if (!status.ok()) settings->errors += "MLMARGIN_TARGET: " + status.message() + "; ignored\n";
  }
}

// The settings after the environment was read.
Settings& ReadSettings() {
  ReadEnvironmentOnce();
  return TheSettings();
}

}  // namespace

void ReadEnvironmentOnce() {
  Settings& settings = TheSettings();
  std::call_once(settings.read, [&] { ReadEnvironment(&settings); });
}

}  // namespace kernel

int NumThreads() {
  const int threads = kernel::ReadSettings().num_threads;
  const int cpus = kernel::AvailableCpus();
  return threads == 0 ? cpus : std::min(threads, cpus);
}

Status SetNumThreads(int count) {
  if (count < 0) {
    return {StatusCode::kInvalidArgument,
            "count must be 0 (the default) or more, got " + std::to_string(count)};
  }
  kernel::ReadSettings().num_threads = count;
  return {};
}

LabelCheck GetLabelCheck() { return kernel::ReadSettings().label_check; }

void SetLabelCheck(LabelCheck check) { kernel::ReadSettings().label_check = check; }

std::string Target() {
  kernel::ReadEnvironmentOnce();
  return kernel::TargetInUse();
}

std::vector<std::string> SupportedTargets() { return kernel::TargetNames(); }

Status SetTarget(std::string_view name) {
  kernel::ReadEnvironmentOnce();
  return kernel::ForceTarget(name);
}

std::string EnvironmentErrors() { return kernel::ReadSettings().errors; }

}  // namespace mlmargin
