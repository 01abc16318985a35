// SPDX-License-Identifier: Apache-2.0
#include "environment/unknown_variables.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>

#include "environment/edit_distance.h"

namespace mlmargin::environment {

// Each library that links this has one; in a process the loader makes all of them one, so it must
// not be hidden. Nor is it inline: a unique symbol would keep its library from being unloaded.
// Weak, as the address sanitizer takes it for a violation of the one-definition rule otherwise.
extern std::atomic_flag variables_are_named;
[[gnu::weak, gnu::visibility("default")]] constinit std::atomic_flag variables_are_named;

namespace {

constexpr std::string_view kPrefix = "MLMARGIN_";
constexpr std::array<std::string_view, 6> kSettings = {
    "MLMARGIN_NUM_THREADS",  "MLMARGIN_TARGET",        "MLMARGIN_LABEL_CHECK",
    "MLMARGIN_DEVICE_COUNT", "MLMARGIN_DEVICE_MEMORY", "MLMARGIN_RACE_CHECK"};
// Where an installation is, to python/setup.py.
constexpr std::string_view kHome = "MLMARGIN_HOME";

// A terminal might take a control character for a command.
void PrintVisibly(std::string_view name) {
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool control = byte < 0x20 || byte == 0x7F;
    if (control) {
      std::fprintf(stderr, "\\x%02x", static_cast<unsigned>(byte));
    } else {
      std::fputc(letter, stderr);
    }
  }
}

void NameOne(std::string_view name) {
  const std::string_view meant = MeantSetting(name);
  flockfile(stderr);
  std::fputs("mlmargin: the environment variable ", stderr);
  PrintVisibly(name);
  std::fprintf(stderr, " is no setting and does nothing%s%.*s%s\n",
               meant.empty() ? "." : "; did you mean ", static_cast<int>(meant.size()),
               meant.data(), meant.empty() ? "" : "?");
  funlockfile(stderr);
}

}  // namespace

std::string_view MeantSetting(std::string_view name) noexcept {
  std::string_view nearest;
  // Longer ones resemble no setting.
  if (name.size() < kPrefix.size() || name.size() > kMaxName) return nearest;
  const size_t most_letters = std::min(size_t{3}, (name.size() - kPrefix.size()) / 3);
  size_t least = most_letters + 1;
  for (const std::string_view setting : kSettings) {
    const size_t distance = EditDistance(name, setting);
    if (distance >= least) continue;
    least = distance;
    nearest = setting;
  }
  return nearest;
}

void NameUnknownVariables() noexcept {
  if (variables_are_named.test_and_set(std::memory_order_relaxed)) return;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    const bool known =
        name == kHome || std::find(kSettings.begin(), kSettings.end(), name) != kSettings.end();
    if (name.starts_with(kPrefix) && !known) NameOne(name);
  }
}

}  // namespace mlmargin::environment
