// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <utility>

#include "acl/acl.h"
#include "environment/device_values.h"
#include "runtime/errors.h"
#include "runtime/never_destroyed.h"
#include "runtime/settings.h"

namespace mlmargin::runtime {
namespace {

struct Device {
  uint64_t set_count = 0;
  std::shared_ptr<Context> primary;  // Null: not set up.
};

struct DeviceTable {
  std::mutex mutex;
  std::array<Device, environment::kMaxDevices> devices;
};

DeviceTable& Table() {
  static NeverDestroyed<DeviceTable> table;
  return table.get();
}

// Called with the table's lock held. The runtime's state is looked at under the lock too: a
// finalize first says that it is over and then takes the devices, so none is set up behind it.
Status SetUpLocked(DeviceTable& table, int32_t device_id, Device** device) {
  MLMARGIN_RETURN_IF_ERROR(CheckInitialized());
  MLMARGIN_RETURN_IF_ERROR(CheckDeviceId(device_id));
  *device = &table.devices[static_cast<size_t>(device_id)];
  if ((*device)->primary != nullptr) return {};
  return Context::Create(device_id, Context::Kind::kPrimary, &(*device)->primary);
}

// Called with the table's lock held: leaves the device as never set. The list of contexts alone
// needs memory, and without it nothing has been taken.
DeviceRemains TakeLocked(DeviceTable& table, int32_t device_id) {
  DeviceRemains remains;
  remains.contexts =
      Contexts().CopyIf([&](const Context& context) { return context.device_id() == device_id; });
  table.devices[static_cast<size_t>(device_id)] = Device();
  remains.memory = TakeDeviceMemory(device_id);
  remains.events = TakeEvents(device_id);
  return remains;
}

// What is left of a time-out that began at `start`; -1 stays -1.
int32_t RemainingMs(int32_t timeout_ms, std::chrono::steady_clock::time_point start) {
  if (timeout_ms < 0) return timeout_ms;
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  return static_cast<int32_t>(std::max<int64_t>(0, timeout_ms - elapsed.count()));
}

}  // namespace

DeviceRemains::~DeviceRemains() {
  for (const auto& [handle, context] : contexts) {
    context->Release(mode);
    if (context->kind() == Context::Kind::kPrimary) Contexts().Remove(handle);
  }
}

Status SetDevice(int32_t device_id) {
  DeviceTable& table = Table();
  const std::lock_guard lock(table.mutex);
  Device* device = nullptr;
  MLMARGIN_RETURN_IF_ERROR(SetUpLocked(table, device_id, &device));
  SetCurrentContextHandle(device->primary->handle());
  ++device->set_count;
  return {};
}

Status CreateExplicitContext(int32_t device_id, std::shared_ptr<Context>* context) {
  DeviceTable& table = Table();
  const std::lock_guard lock(table.mutex);
  Device* device = nullptr;
  MLMARGIN_RETURN_IF_ERROR(SetUpLocked(table, device_id, &device));
  return Context::Create(device_id, Context::Kind::kExplicit, context);
}

Status ResetDevice(int32_t device_id, ResetMode mode) {
  MLMARGIN_RETURN_IF_ERROR(CheckDeviceId(device_id));
  DeviceTable& table = Table();
  DeviceRemains remains;  // Destroyed after the lock is gone.
  const std::lock_guard lock(table.mutex);
  Device& device = table.devices[static_cast<size_t>(device_id)];
  if (device.primary == nullptr) {
    return Status(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "EE1018",
                  fmt::format("device {} is not set or was reset already; each reset wants one "
                              "aclrtSetDevice before it.",
                              device_id));
  }
  if (mode == ResetMode::kCounted && device.set_count > 1) {
    --device.set_count;
    return {};
  }
  remains = TakeLocked(table, device_id);
  if (mode == ResetMode::kForced) remains.mode = Stream::CloseMode::kDrop;
  return {};
}

bool IsDeviceSetUp(int32_t device_id) {
  DeviceTable& table = Table();
  const std::lock_guard lock(table.mutex);
  return table.devices[static_cast<size_t>(device_id)].primary != nullptr;
}

DeviceRemains TakeAllDevices() {
  DeviceTable& table = Table();
  DeviceRemains all;
  const std::lock_guard lock(table.mutex);
  for (Device& device : table.devices) device = Device();
  // A released explicit context goes too, so that none outlives its owner's mistake.
  all.contexts = Contexts().RemoveIf([](const Context&) { return true; });
  all.memory = TakeDeviceMemory(std::nullopt);
  all.events = TakeEvents(std::nullopt);
  return all;
}

Status SynchronizeDevice(int32_t device_id, int32_t timeout_ms) {
  const auto start = std::chrono::steady_clock::now();
  const auto streams =
      Streams().CopyIf([&](const Stream& stream) { return stream.device_id() == device_id; });
  Status first_error;
  for (const auto& [handle, stream] : streams) {
    Status status = stream->Wait(Stream::kAllTasks, RemainingMs(timeout_ms, start));
    if (status.code() == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) return status;
    if (!status.ok() && first_error.ok()) first_error = std::move(status);
  }
  // One failure a call: those of further streams wait for the next one.
  for (const auto& [handle, stream] : streams) {
    if (first_error.ok()) first_error = stream->TakeFailure(Stream::kAllTasks);
  }
  return first_error;
}

}  // namespace mlmargin::runtime
