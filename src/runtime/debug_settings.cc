// SPDX-License-Identifier: Apache-2.0
#include "runtime/debug_settings.h"

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>

#include "environment/device_values.h"
#include "mlmargin/device.h"
#include "runtime/c_api.h"
#include "runtime/init.h"

namespace mlmargin::runtime {
namespace {

// A switch of the environment, with a function that beats it.
class Switch {
 public:
  // Off by the first of the two values, on by the second.
  constexpr Switch(const char* variable, std::array<std::string_view, 2> values)
      : variable_(variable), values_(values) {}

  bool on() const noexcept { return on_.load(std::memory_order_relaxed); }

  // The reads and changes come one after the other, from under a lock of the callers'.
  void Read() { on_.store(requested_ ? *requested_ : Environment(), std::memory_order_relaxed); }
  void Request(bool on) { requested_ = on; }

 private:
  bool Environment() const {
    const char* const value = std::getenv(variable_);
    if (value == nullptr || *value == '\0' || value == values_[0]) return false;
    if (value == values_[1]) return true;
    Log(ACL_WARNING, "RUNTIME",
        fmt::format("{} is \"{}\"; expected {} or {}; using the default, {}.", variable_, value,
                    values_[0], values_[1], values_[0]));
    return false;
  }

  const char* const variable_;
  const std::array<std::string_view, 2> values_;
  std::optional<bool> requested_;
  std::atomic<bool> on_ = false;
};

constinit Switch isolated_memory("MLMARGIN_DEVICE_MEMORY", environment::kDeviceMemoryValues);
constinit Switch race_check("MLMARGIN_RACE_CHECK", environment::kRaceCheckValues);
constinit std::mutex switches_mutex;

bool RequestBeforeInit(const char* function, Switch& which, bool on) {
  return ApiCall(function, [&] {
           MLMARGIN_RETURN_IF_ERROR(CheckNotInitialized());
           const std::lock_guard lock(switches_mutex);
           which.Request(on);
           return Status();
         }) == 0;
}

}  // namespace

bool DeviceMemoryIsIsolated() noexcept { return isolated_memory.on(); }
bool RaceCheckIsOn() noexcept { return race_check.on(); }

void ReadDebugSettings() {
  const std::lock_guard lock(switches_mutex);
  isolated_memory.Read();
  race_check.Read();
}

}  // namespace mlmargin::runtime

bool mlmargin::SetDeviceMemory(DeviceMemory memory) {
  return runtime::RequestBeforeInit("mlmargin::SetDeviceMemory", runtime::isolated_memory,
                                    memory == DeviceMemory::kIsolated);
}

bool mlmargin::SetRaceCheck(bool on) {
  return runtime::RequestBeforeInit("mlmargin::SetRaceCheck", runtime::race_check, on);
}
