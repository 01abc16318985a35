// SPDX-License-Identifier: Apache-2.0
// What the variables of the device may say: the runtime reads them, the command shows them.
#ifndef MLMARGIN_ENVIRONMENT_DEVICE_VALUES_H_
#define MLMARGIN_ENVIRONMENT_DEVICE_VALUES_H_

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace mlmargin::environment {

// MLMARGIN_DEVICE_COUNT: 1 to this.
inline constexpr int32_t kMaxDevices = 64;

// The default, then the other one.
inline constexpr std::array<std::string_view, 2> kDeviceMemoryValues = {"shared", "isolated"};
inline constexpr std::array<std::string_view, 2> kRaceCheckValues = {"0", "1"};

// The whole of `text` as a number from `low` to `high`.
inline std::optional<int32_t> ParseNumber(std::string_view text, int32_t low, int32_t high) {
  int32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < low || number > high) return std::nullopt;
  return number;
}

}  // namespace mlmargin::environment

#endif  // MLMARGIN_ENVIRONMENT_DEVICE_VALUES_H_
