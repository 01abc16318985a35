// SPDX-License-Identifier: Apache-2.0
// Tensors in device memory for the tests: any view, with every byte outside it guarded.
#ifndef MLMARGIN_TESTS_OPAPI_DEVICE_TENSOR_H_
#define MLMARGIN_TESTS_OPAPI_DEVICE_TENSOR_H_

#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "support/batch.h"

namespace mlmargin::testing {

// Initialises the runtime and selects device 0 for the life of the object.
class AclSession {
 public:
  AclSession();
  ~AclSession();
  AclSession(const AclSession&) = delete;
  AclSession& operator=(const AclSession&) = delete;
};

// How a matrix lies in its storage.
struct View {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t offset = 0;

  int64_t NumElements() const;
  // Elements of storage that the view needs.
  int64_t StorageElements() const;
  // Storage index of the k-th element in row-major order.
  int64_t IndexOf(int64_t k) const;
};

enum class ViewKind { kContiguous, kTransposed, kStepped, kPadded };
inline constexpr ViewKind kAllViewKinds[] = {ViewKind::kContiguous, ViewKind::kTransposed,
                                             ViewKind::kStepped, ViewKind::kPadded};
View MakeView(std::vector<int64_t> shape, ViewKind kind);

aclDataType AclType(const FloatFormat& format);

// A device allocation with one view over it. Bytes outside the view hold a pattern.
class DeviceTensor {
 public:
  // `misalignment` bytes are left out at the front of the allocation.
  DeviceTensor(View view, aclDataType dtype, size_t misalignment = 0);
  ~DeviceTensor();
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  void Write(const std::vector<int64_t>& values);  // Row-major; integers or bit patterns.
  std::vector<uint32_t> Read() const;              // Row-major bit patterns.
  // Whether every byte is as before the operator ran: all of them, or those outside the view.
  bool GuardsIntact() const;
  bool Untouched() const;

  aclTensor* handle() const { return handle_; }
  void* data() const { return static_cast<char*>(allocation_) + misalignment_; }
  const View& view() const { return view_; }

 private:
  std::vector<unsigned char> Download() const;
  void Upload(const std::vector<unsigned char>& bytes);
  size_t ByteOf(int64_t k) const;

  View view_;
  size_t element_bytes_;
  size_t misalignment_;
  size_t bytes_ = 0;
  void* allocation_ = nullptr;
  aclTensor* handle_ = nullptr;
  std::vector<unsigned char> written_;
};

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_OPAPI_DEVICE_TENSOR_H_
