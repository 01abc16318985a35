// SPDX-License-Identifier: Apache-2.0
// Devices: how often each was set, its primary context, and what goes with a device.
#ifndef MLMARGIN_RUNTIME_DEVICE_H_
#define MLMARGIN_RUNTIME_DEVICE_H_

#include <cstdint>
#include <memory>

#include "runtime/context.h"
#include "runtime/event.h"
#include "runtime/memory.h"
#include "runtime/status.h"

namespace mlmargin::runtime {

// Counts one for the device, sets up its primary context on first use and makes that current.
Status SetDevice(int32_t device_id);

// Makes a context of the device, whose primary context it sets up without counting, as the first
// context of a device does.
Status CreateExplicitContext(int32_t device_id, std::shared_ptr<Context>* context);

// Takes one from the count; at 0, or at once when forced, releases the device: the work queued is
// waited for (forced: dropped), then all its contexts, streams and memory go. 507007 if the
// device is not set up.
enum class ResetMode { kCounted, kForced };
Status ResetDevice(int32_t device_id, ResetMode mode);

// Whether the device's primary context is set up.
bool IsDeviceSetUp(int32_t device_id);

// Waits for all streams of the device: the first failure, or 507046.
Status SynchronizeDevice(int32_t device_id, int32_t timeout_ms);

// What was taken out of the tables and is now invisible for new calls: released, after a wait for
// its work, on destruction, which must happen without a lock held.
struct DeviceRemains {
  DeviceRemains() = default;
  DeviceRemains(DeviceRemains&&) = default;
  DeviceRemains& operator=(DeviceRemains&&) = default;
  ~DeviceRemains();

  Stream::CloseMode mode = Stream::CloseMode::kDrain;
  HandleTable<Context>::Objects contexts;
  DeviceMemory memory;
  HandleTable<Event>::Objects events;
};

// The remains of all devices, for the last finalize. Needs no memory.
DeviceRemains TakeAllDevices();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_DEVICE_H_
