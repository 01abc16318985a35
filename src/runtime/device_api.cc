// SPDX-License-Identifier: Apache-2.0
// Entry points for setting, resetting and waiting for devices.
#include <memory>

#include "runtime/c_api.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/settings.h"

using namespace mlmargin::runtime;

aclError aclrtSetDevice(int32_t deviceId) {
  return ApiCall(__func__, [&] { return SetDevice(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return ApiCall(__func__, [&] { return ResetDevice(deviceId, ResetMode::kCounted); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return ApiCall(__func__, [&] { return ResetDevice(deviceId, ResetMode::kForced); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(deviceId);
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    *deviceId = context->device_id();
    return Status();
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(count);
    *count = static_cast<uint32_t>(VisibleDevices().size());
    return Status();
  });
}

aclError aclrtSynchronizeDevice() {
  return ApiCall(__func__, [] {
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    return SynchronizeDevice(context->device_id(), -1);
  });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckTimeout(timeout));
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    return SynchronizeDevice(context->device_id(), timeout);
  });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(runMode);
    *runMode = ACL_HOST;
    return Status();
  });
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(deviceStatus);
    MLMARGIN_RETURN_IF_ERROR(CheckDeviceId(deviceId));
    *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
    return Status();
  });
}
