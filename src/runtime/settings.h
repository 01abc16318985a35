// SPDX-License-Identifier: Apache-2.0
// Which devices there are: MLMARGIN_DEVICE_COUNT or mlmargin::SetDeviceCount, and which of them
// ASCEND_RT_VISIBLE_DEVICES shows.
#ifndef MLMARGIN_RUNTIME_SETTINGS_H_
#define MLMARGIN_RUNTIME_SETTINGS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/status.h"

namespace mlmargin::runtime {

// The numbers of the visible devices: device i of the API is number VisibleDevices()[i]. Read
// from the settings on first use and again by each init.
std::vector<int32_t> VisibleDevices();
void ReadDeviceSettings();

// 107001 unless `device_id` is one of 0 .. count-1.
Status CheckDeviceId(int64_t device_id);

// The entries of a list like "0,2,3" up to the first that is no number, not above its
// predecessor, or not below `num_devices`.
std::vector<int32_t> ParseVisibleDevices(std::string_view text, int32_t num_devices);

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_SETTINGS_H_
