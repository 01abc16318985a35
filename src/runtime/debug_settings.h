// SPDX-License-Identifier: Apache-2.0
// Whether the device helps to find mistakes: MLMARGIN_DEVICE_MEMORY and MLMARGIN_RACE_CHECK, or
// mlmargin::SetDeviceMemory and SetRaceCheck.
#ifndef MLMARGIN_RUNTIME_DEBUG_SETTINGS_H_
#define MLMARGIN_RUNTIME_DEBUG_SETTINGS_H_

namespace mlmargin::runtime {

// Both hold from one init to the next. Lock-free.
bool DeviceMemoryIsIsolated() noexcept;
bool RaceCheckIsOn() noexcept;

// Called by each init.
void ReadDebugSettings();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_DEBUG_SETTINGS_H_
