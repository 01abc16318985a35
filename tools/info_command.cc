// SPDX-License-Identifier: Apache-2.0
// mlmargin info: what this installation is, and what its settings are and come from.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.h"
#include "environment/device_values.h"
#include "mlmargin/settings.h"
#include "mlmargin/version.h"

namespace mlmargin::tools {
namespace {

struct Setting {
  std::string variable, value, source;
};

std::string Version() {
  return fmt::format("{}.{}.{}", MLMARGIN_VERSION_MAJOR, MLMARGIN_VERSION_MINOR,
                     MLMARGIN_VERSION_PATCH);
}

const char* NameOf(LabelCheck check) {
  switch (check) {
    case LabelCheck::kIgnore:
      return "ignore";
    case LabelCheck::kError:
      return "error";
    case LabelCheck::kWarn:
      break;
  }
  return "warn";
}

std::string SourceOf(const char* text, bool understood) {
  if (text == nullptr || *text == '\0') return "default";
  return understood ? "environment"
                    : fmt::format("default; \"{}\" in the environment was not understood", text);
}

Setting OfKernels(const char* variable, std::string value) {
  const bool ignored = EnvironmentErrors().find(variable) != std::string::npos;
  return {variable, std::move(value), SourceOf(std::getenv(variable), !ignored)};
}

// Of the library libascendcl.so, which the command does not load.
Setting OfDevice(const char* variable, const char* default_value,
                 bool (*is_value)(std::string_view text)) {
  const char* const text = std::getenv(variable);
  const bool used = text != nullptr && is_value(text);
  return {variable, used ? text : default_value, SourceOf(text, used)};
}

bool IsDeviceCount(std::string_view text) {
  return environment::ParseNumber(text, 1, environment::kMaxDevices).has_value();
}

template <const auto& kValues>
bool IsOneOf(std::string_view text) {
  return std::find(kValues.begin(), kValues.end(), text) != kValues.end();
}

std::vector<Setting> Settings() {
  return {OfKernels("MLMARGIN_NUM_THREADS", std::to_string(NumThreads())),
          OfKernels("MLMARGIN_TARGET", Target()),
          OfKernels("MLMARGIN_LABEL_CHECK", NameOf(GetLabelCheck())),
          OfDevice("MLMARGIN_DEVICE_COUNT", "1", IsDeviceCount),
          OfDevice("MLMARGIN_DEVICE_MEMORY", "shared", IsOneOf<environment::kDeviceMemoryValues>),
          OfDevice("MLMARGIN_RACE_CHECK", "0", IsOneOf<environment::kRaceCheckValues>)};
}

void PrintJson() {
  nlohmann::json settings = nlohmann::json::object();
  for (const Setting& setting : Settings()) {
    settings[setting.variable] = {{"value", setting.value}, {"source", setting.source}};
  }
  const nlohmann::json json = {{"version", Version()},
                               {"target", Target()},
                               {"targets", SupportedTargets()},
                               {"threads", NumThreads()},
                               {"settings", settings}};
  fmt::print("{}\n", json.dump());
}

void PrintText() {
  fmt::print("mlmargin {}\ntarget   {} of {}\nthreads  {}\n\n", Version(), Target(),
             fmt::join(SupportedTargets(), ", "), NumThreads());
  for (const Setting& setting : Settings()) {
    fmt::print("{:<24}{:<10}{}\n", setting.variable, setting.value, setting.source);
  }
}

}  // namespace

int RunInfo(bool json) {
  if (json) {
    PrintJson();
  } else {
    PrintText();
  }
  return 0;
}

}  // namespace mlmargin::tools
