// SPDX-License-Identifier: Apache-2.0
// How many objects of one kind each device has, against its limit.
#ifndef MLMARGIN_RUNTIME_DEVICE_QUOTA_H_
#define MLMARGIN_RUNTIME_DEVICE_QUOTA_H_

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace mlmargin::runtime {

// Thread-safe.
class DeviceQuota {
 public:
  explicit DeviceQuota(uint32_t limit) : limit_(limit) {}

  // Takes one place; false if all are taken.
  bool Take(int32_t device_id) {
    const std::lock_guard lock(mutex_);
    uint32_t& taken = taken_[device_id];
    if (taken >= limit_) return false;
    ++taken;
    return true;
  }

  // Gives back one place.
  void Give(int32_t device_id) {
    const std::lock_guard lock(mutex_);
    --taken_[device_id];
  }

  uint32_t Available(int32_t device_id) {
    const std::lock_guard lock(mutex_);
    return limit_ - taken_[device_id];
  }

 private:
  const uint32_t limit_;
  std::mutex mutex_;
  std::unordered_map<int32_t, uint32_t> taken_;
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_DEVICE_QUOTA_H_
