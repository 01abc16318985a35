// SPDX-License-Identifier: Apache-2.0
// mlmargin info: what this installation is, and what its settings are and come from.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
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

// Where the value in use of a variable of the kernels comes from.
std::string SourceOf(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return "default";
  const bool ignored = EnvironmentErrors().find(variable) != std::string::npos;
  return ignored ? fmt::format("default; \"{}\" in the environment was not understood", text)
                 : "environment";
}

Setting OfDevice(const char* variable, const char* default_value) {
  const char* const text = std::getenv(variable);
  const bool set = text != nullptr && *text != '\0';
  return {variable, set ? text : default_value, set ? "environment" : "default"};
}

std::vector<Setting> Settings() {
  return {{"MLMARGIN_NUM_THREADS", std::to_string(NumThreads()), SourceOf("MLMARGIN_NUM_THREADS")},
          {"MLMARGIN_TARGET", Target(), SourceOf("MLMARGIN_TARGET")},
          {"MLMARGIN_LABEL_CHECK", NameOf(GetLabelCheck()), SourceOf("MLMARGIN_LABEL_CHECK")},
          OfDevice("MLMARGIN_DEVICE_COUNT", "1"),
          OfDevice("MLMARGIN_DEVICE_MEMORY", "shared"),
          OfDevice("MLMARGIN_RACE_CHECK", "0")};
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
