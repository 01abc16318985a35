// SPDX-License-Identifier: Apache-2.0
#include "runtime/log_settings.h"

#include <cstdlib>
#include <optional>

namespace mlmargin::runtime {
namespace {

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// One digit from '0' to '4'.
std::optional<int> ParseLevel(std::string_view text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '4') return std::nullopt;
  return text[0] - '0';
}

std::map<std::string, int, std::less<>> ParseModuleLevels(std::string_view text) {
  std::map<std::string, int, std::less<>> levels;
  while (!text.empty()) {
    const size_t colon = text.find(':');
    const std::string_view entry = text.substr(0, colon);
    text = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::optional<int> level = ParseLevel(entry.substr(equals + 1));
    if (level) levels[std::string(entry.substr(0, equals))] = *level;
  }
  return levels;
}

LogTarget ParseTarget() {
  for (const char* name : {"ASCEND_LOG_PRINT_TO_STDOUT", "ASCEND_SLOG_PRINT_TO_STDOUT"}) {
    const std::string_view value = Variable(name);
    if (value == "0") return LogTarget::kFile;
    if (value == "1") return LogTarget::kStdout;
  }
  return LogTarget::kStderr;
}

std::string ParseFolder() {
  for (const char* name : {"ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH"}) {
    const std::string_view value = Variable(name);
    if (!value.empty()) return std::string(value);
  }
  const std::string_view home = Variable("HOME");
  return home.empty() ? "ascend/log" : std::string(home) + "/ascend/log";
}

}  // namespace

int LogSettings::LevelOf(std::string_view module) const {
  const auto it = module_level.find(module);
  return it == module_level.end() ? level : it->second;
}

LogSettings ReadLogSettings() {
  LogSettings settings;
  settings.level = ParseLevel(Variable("ASCEND_GLOBAL_LOG_LEVEL")).value_or(settings.level);
  settings.module_level = ParseModuleLevels(Variable("ASCEND_MODULE_LOG_LEVEL"));
  settings.target = ParseTarget();
  if (settings.target == LogTarget::kFile) settings.folder = ParseFolder();
  return settings;
}

}  // namespace mlmargin::runtime
