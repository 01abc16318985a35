// SPDX-License-Identifier: Apache-2.0
// The operators called with memory of any kind, which is registered as device memory.
#ifndef MLMARGIN_TESTS_SIZE_OPERATOR_CALL_H_
#define MLMARGIN_TESTS_SIZE_OPERATOR_CALL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "opapi/device_tensor.h"

namespace mlmargin::testing {

// Makes memory of ours device memory, for the life of the object.
class Registered {
 public:
  Registered(void* memory, size_t bytes);
  ~Registered();
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  void* memory_;
};

class DeviceMemory {
 public:
  explicit DeviceMemory(int64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  template <typename T = char>
  T* data() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

class TensorHandle {
 public:
  TensorHandle(const View& view, aclDataType dtype, void* data);
  ~TensorHandle();
  TensorHandle(const TensorHandle&) = delete;
  TensorHandle& operator=(const TensorHandle&) = delete;
  aclTensor* get() const { return handle_; }

 private:
  aclTensor* handle_;
};

// Both phases and the wait. Workspace and heap must stay within what a call may take: 1 MB and 16
// bytes a row, and 32 bytes (with a gradient 48) for each label of the rows in work.
void RunLoss(const TensorHandle& self, const TensorHandle& target, int64_t reduction,
             const TensorHandle& out, const TensorHandle& is_target, int64_t rows,
             int64_t labels_in_work);
void RunGradient(const TensorHandle& grad_output, const TensorHandle& self,
                 const TensorHandle& target, int64_t reduction, const TensorHandle& is_target,
                 const TensorHandle& grad_input, int64_t labels_in_work);

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_SIZE_OPERATOR_CALL_H_
