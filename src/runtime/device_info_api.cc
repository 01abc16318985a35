// SPDX-License-Identifier: Apache-2.0
// Entry points that describe the devices: each is the host's CPUs and the host's memory.
#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "runtime/c_api.h"
#include "runtime/memory.h"
#include "runtime/settings.h"

namespace mlmargin::runtime {
namespace {

constexpr std::array<aclCannAttr, 3> kCannAttributes = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16,
                                                        ACL_CANN_ATTR_JIT_COMPILE};

// The CPUs that this process may use.
int64_t NumCpus() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) return CPU_COUNT(&cpus);
  return std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN));
}

// In bytes; 0 where the kernel does not say.
int64_t L2Bytes() { return std::max<int64_t>(0, sysconf(_SC_LEVEL2_CACHE_SIZE)); }

bool IsDeviceAttribute(aclrtDevAttr attr) {
  const int number = static_cast<int>(attr);
  return number == 1 || number == 101 || number == 102 || (number >= 201 && number <= 212) ||
         number == 301 || number == 302 || (number >= 401 && number <= 409) || number == 501 ||
         number == 601;
}

Status DeviceAttribute(uint32_t device_id, aclrtDevAttr attr, int64_t* value) {
  switch (attr) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      *value = NumCpus();
      return {};
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      *value = static_cast<int64_t>(TotalDeviceBytes());
      return {};
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      *value = L2Bytes();
      return {};
    case ACL_DEV_ATTR_PHY_CHIP_ID:
      *value = VisibleDevices()[device_id];
      return {};
    case ACL_DEV_ATTR_HD_CONNECT_TYPE:
    case ACL_DEV_ATTR_DEVICE_FORM_FACTOR:
      return NotSupported(fmt::format("argument attr is {}; a CPU device has no such property.",
                                      static_cast<int>(attr)));
    default:
      break;
  }
  if (!IsDeviceAttribute(attr)) {
    return InvalidParam(fmt::format("argument attr is {}; expected a value of aclrtDevAttr.",
                                    static_cast<int>(attr)));
  }
  *value = 0;
  return {};
}

Status DeviceCapability(uint32_t device_id, aclDeviceInfo info, int64_t* value) {
  const size_t num_devices = VisibleDevices().size();
  if (device_id >= num_devices) {
    return InvalidParam(fmt::format("argument deviceId is {}; expected a number below {}.",
                                    device_id, num_devices));
  }
  switch (info) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      *value = NumCpus();
      return {};
    case ACL_DEVICE_INFO_L2_SIZE:
      *value = L2Bytes();
      return {};
    default:
      return InvalidParam(
          fmt::format("argument deviceInfo is {}; expected 0, 1 or 2.", static_cast<int>(info)));
  }
}

}  // namespace
}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

const char* aclrtGetSocName() {
  const char* name = nullptr;
  ApiCall(__func__, [&] {
    if (!VisibleDevices().empty()) name = "mlmargin-cpu";
    return Status();
  });
  return name;
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(value);
    MLMARGIN_RETURN_IF_ERROR(CheckDeviceId(deviceId));
    return DeviceAttribute(deviceId, attr, value);
  });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(value);
    return DeviceCapability(deviceId, deviceInfo, value);
  });
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(cannAttrList);
    MLMARGIN_RETURN_IF_NULL(num);
    *cannAttrList = kCannAttributes.data();
    *num = kCannAttributes.size();
    return Status();
  });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(value);
    if (std::find(kCannAttributes.begin(), kCannAttributes.end(), cannAttr) ==
        kCannAttributes.end()) {
      return InvalidParam(
          fmt::format("argument cannAttr is {}; expected one of those that "
                      "aclGetCannAttributeList gives.",
                      static_cast<int>(cannAttr)));
    }
    // Nothing is compiled at run time here; infinities, NaN and bfloat16 are served.
    *value = cannAttr == ACL_CANN_ATTR_JIT_COMPILE ? 0 : 1;
    return Status();
  });
}
