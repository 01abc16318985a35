// SPDX-License-Identifier: Apache-2.0
// A call of one of the two operators made from a few bytes: tensors, mostly right, in one device
// allocation.
#ifndef MLMARGIN_FUZZ_OPERATOR_CALL_H_
#define MLMARGIN_FUZZ_OPERATOR_CALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "fuzz_support.h"

namespace mlmargin::fuzz {

// A tensor as the operator is told of it.
struct TensorSpec {
  const char* name = "";
  bool is_output = false;
  std::vector<int64_t> shape;
  std::optional<std::vector<int64_t>> strides;  // None: contiguous.
  int64_t offset = 0;
  aclDataType dtype = ACL_FLOAT;
  aclFormat format = ACL_FORMAT_ND;
  std::vector<int64_t> storage;
  void* data = nullptr;

  bool IsEmpty() const;
  int64_t Stride(size_t dim) const;  // Of a contiguous one too; capped.
  // Null where a number is negative.
  aclTensor* Make() const;
};

// Device memory with known bytes in it. It is the host's, so it is read and written directly.
class Arena {
 public:
  explicit Arena(size_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  unsigned char* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  bool Holds(const void* from, size_t bytes) const;

 private:
  unsigned char* data_ = nullptr;
  size_t bytes_;
};

enum class OperatorKind { kLoss, kBackward };

struct OperatorCall {
  OperatorKind kind = OperatorKind::kLoss;
  int64_t reduction = 0;
  std::vector<TensorSpec> tensors;  // In the order of the arguments.
  std::optional<Arena> arena;

  explicit OperatorCall(Provider& provider);
  TensorSpec& Named(const char* name);
  const TensorSpec& Named(const char* name) const;

 private:
  void AddTensor(Provider& provider, const char* name, bool is_output, std::vector<int64_t> shape,
                 aclDataType dtype);
  void Place(Provider& provider);
  void Fill(Provider& provider, const Shape& shape);
  void Spoil(Provider& provider);
};

}  // namespace mlmargin::fuzz

#endif  // MLMARGIN_FUZZ_OPERATOR_CALL_H_
