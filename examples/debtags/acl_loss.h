// SPDX-License-Identifier: Apache-2.0
// The loss of batches of rows, through the aclnn API. Every failure throws std::runtime_error
// with the library's message.
#ifndef MLMARGIN_EXAMPLES_DEBTAGS_ACL_LOSS_H_
#define MLMARGIN_EXAMPLES_DEBTAGS_ACL_LOSS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "acl/acl.h"
#include "aclnnop/aclnn_multilabel_margin_loss.h"

namespace debtags {

// Initialises the library and selects the device, for as long as it lives.
class AclDevice {
 public:
  AclDevice();
  ~AclDevice();
  AclDevice(const AclDevice&) = delete;
  AclDevice& operator=(const AclDevice&) = delete;
};

struct FreeDeviceMemory {
  void operator()(void* memory) const { aclrtFree(memory); }
};
struct FreeHostMemory {
  void operator()(void* memory) const { aclrtFreeHost(memory); }
};
struct DestroyEvent {
  void operator()(void* event) const { aclrtDestroyEvent(event); }
};
struct DestroyStream {
  void operator()(void* stream) const { aclrtDestroyStream(stream); }
};
using DeviceMemory = std::unique_ptr<void, FreeDeviceMemory>;
using HostMemory = std::unique_ptr<void, FreeHostMemory>;
using Event = std::unique_ptr<void, DestroyEvent>;
using Stream = std::unique_ptr<void, DestroyStream>;

// One batch in flight: a stream, and the memory that its work uses. Two of these let the host
// fill one batch while the device works on the other.
class LossBatch {
 public:
  // For up to `max_rows` rows of `num_classes` scores.
  LossBatch(size_t max_rows, size_t num_classes);

  size_t max_rows() const { return max_rows_; }

  // Row-major host memory, to be filled before Start(); labels end with -1 in each row.
  std::span<float> scores() const;
  std::span<int32_t> labels() const;

  // Queues copies and loss of the first `rows` rows (at least 1) and returns. Scores and labels
  // must not change before Wait().
  void Start(size_t rows);

  // The losses of the rows last started, when they are done; valid until the next Start().
  std::span<const float> Wait();

  // After Wait(): how long the device worked on the loss, without the copies.
  double LossMilliseconds() const;

 private:
  void CopyAsync(const DeviceMemory& to, const HostMemory& from, size_t bytes);
  void LaunchLoss(size_t rows);

  size_t max_rows_;
  size_t num_classes_;
  size_t started_rows_ = 0;
  size_t workspace_bytes_ = 0;
  HostMemory host_scores_;
  HostMemory host_labels_;
  HostMemory host_losses_;
  DeviceMemory scores_;
  DeviceMemory labels_;
  DeviceMemory losses_;
  DeviceMemory mask_;
  DeviceMemory workspace_;
  Event loss_begin_;
  Event loss_end_;
  Stream stream_;  // Last: it goes first, and waits for the work that uses the memory.
};

}  // namespace debtags

#endif  // MLMARGIN_EXAMPLES_DEBTAGS_ACL_LOSS_H_
