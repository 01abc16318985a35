// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>

#include "environment/device_values.h"
#include "mlmargin/device.h"
#include "runtime/c_api.h"
#include "runtime/init.h"
#include "runtime/never_destroyed.h"

namespace mlmargin::runtime {
namespace {

using environment::kMaxDevices;
using environment::ParseNumber;

constexpr int32_t kDefaultNumDevices = 1;
constexpr const char* kModule = "RUNTIME";

struct DeviceSettings {
  std::mutex mutex;
  std::optional<int32_t> requested;             // By SetDeviceCount.
  std::optional<std::vector<int32_t>> visible;  // Empty until first read.
};

DeviceSettings& Settings() {
  static NeverDestroyed<DeviceSettings> settings;
  return settings.get();
}

int32_t DeviceCountFromEnvironment() {
  const char* const value = std::getenv("MLMARGIN_DEVICE_COUNT");
  if (value == nullptr || *value == '\0') return kDefaultNumDevices;
  const std::optional<int32_t> count = ParseNumber(value, 1, kMaxDevices);
  if (count) return *count;
  Log(ACL_WARNING, kModule,
      fmt::format("MLMARGIN_DEVICE_COUNT is \"{}\"; expected a whole number from 1 to {}; using "
                  "the default, {}.",
                  value, kMaxDevices, kDefaultNumDevices));
  return kDefaultNumDevices;
}

std::vector<int32_t> ReadVisibleDevices(int32_t num_devices) {
  const char* const value = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (value == nullptr || *value == '\0') {
    std::vector<int32_t> all(static_cast<size_t>(num_devices));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<int32_t> visible = ParseVisibleDevices(value, num_devices);
  const std::string_view text = value;
  const auto num_entries = 1 + std::count(text.begin(), text.end(), ',');
  if (static_cast<ptrdiff_t>(visible.size()) < num_entries) {
    Log(ACL_WARNING, kModule,
        fmt::format("ASCEND_RT_VISIBLE_DEVICES is \"{}\"; expected ascending device numbers from 0 "
                    "to {}, joined by commas; only the {} before the first bad entry are visible.",
                    value, num_devices - 1, visible.size()));
  }
  return visible;
}

// Logging takes no lock of ours, so the settings' lock may be held.
void ReadLocked(DeviceSettings& settings) {
  settings.visible =
      ReadVisibleDevices(settings.requested ? *settings.requested : DeviceCountFromEnvironment());
}

Status SetRequestedCount(int count) {
  if (count < 1 || count > kMaxDevices) {
    return InvalidRuntimeParam(
        fmt::format("argument count is {}; expected 1 to {}.", count, kMaxDevices));
  }
  MLMARGIN_RETURN_IF_ERROR(CheckNotInitialized());
  DeviceSettings& settings = Settings();
  const std::lock_guard lock(settings.mutex);
  settings.requested = count;
  settings.visible.reset();
  return {};
}

}  // namespace

std::vector<int32_t> ParseVisibleDevices(std::string_view text, int32_t num_devices) {
  std::vector<int32_t> visible;
  for (;;) {
    const size_t comma = text.find(',');
    const int32_t low = visible.empty() ? 0 : visible.back() + 1;
    const std::optional<int32_t> number = ParseNumber(text.substr(0, comma), low, num_devices - 1);
    if (!number) return visible;
    visible.push_back(*number);
    if (comma == std::string_view::npos) return visible;
    text.remove_prefix(comma + 1);
  }
}

std::vector<int32_t> VisibleDevices() {
  DeviceSettings& settings = Settings();
  const std::lock_guard lock(settings.mutex);
  if (!settings.visible) ReadLocked(settings);
  return *settings.visible;
}

void ReadDeviceSettings() {
  DeviceSettings& settings = Settings();
  const std::lock_guard lock(settings.mutex);
  ReadLocked(settings);
}

Status CheckDeviceId(int64_t device_id) {
  const size_t count = VisibleDevices().size();
  if (device_id >= 0 && static_cast<uint64_t>(device_id) < count) return {};
  return Status(
      ACL_ERROR_RT_INVALID_DEVICEID, "EE1001",
      count == 0 ? fmt::format("argument deviceId is {}, but no device is visible; see "
                               "ASCEND_RT_VISIBLE_DEVICES.",
                               device_id)
                 : fmt::format("argument deviceId is {}; expected 0 to {}.", device_id, count - 1));
}

}  // namespace mlmargin::runtime

bool mlmargin::SetDeviceCount(int count) {
  return runtime::ApiCall("mlmargin::SetDeviceCount",
                          [&] { return runtime::SetRequestedCount(count); }) == 0;
}
