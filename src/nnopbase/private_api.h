// SPDX-License-Identifier: Apache-2.0
// What nnopbase lends to operators: tensors by value, and executors. Exported from
// libnnopbase.so for libopapi_nn.so; private, may change at any time.
#ifndef MLMARGIN_NNOPBASE_PRIVATE_API_H_
#define MLMARGIN_NNOPBASE_PRIVATE_API_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "runtime/private_api.h"
#include "runtime/status.h"

namespace mlmargin::nnopbase {

using runtime::Status;

// ---- Tensors -------------------------------------------------------------------------------

// What an aclTensor handle stands for. Immutable: a change to the tensor puts a new one behind
// the handle, so an executor keeps what it saw in phase 1 by holding the old one.
struct Tensor {
  std::vector<int64_t> view_shape;
  std::vector<int64_t> strides;  // In elements, one per view dimension.
  std::vector<int64_t> storage_shape;
  int64_t offset = 0;  // In elements, from `data`.
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  void* data = nullptr;
};

// The tensor behind `handle`. `argument` names it in the message: 161001 when the handle is null,
// 161002 when it is not a live tensor.
MLMARGIN_PRIVATE_API Status FindTensor(const aclTensor* handle, const char* argument,
                                       std::shared_ptr<const Tensor>* tensor);

// "(3, 4)", "()" for 0-D: the one spelling of a shape in messages.
MLMARGIN_PRIVATE_API std::string ShapeText(std::span<const int64_t> shape);

// "FLOAT16", "INT64": the dtype's name in messages, or "aclDataType(77)".
MLMARGIN_PRIVATE_API std::string DataTypeText(aclDataType dtype);

// The bytes a view touches, from its first to its last element, relative to `data`; bytes == 0
// when the view has no elements. The view must lie inside its storage (see CheckView).
struct ByteRange {
  uint64_t begin = 0;
  uint64_t bytes = 0;
};
MLMARGIN_PRIVATE_API ByteRange ViewRange(const Tensor& tensor);

// 161002 when the view reaches outside its storage or its extent overflows 64 bits. Strides of
// dimensions of size 1 or less are not looked at; an empty view needs no storage.
MLMARGIN_PRIVATE_API Status CheckView(const Tensor& tensor, const char* argument);

// A failed check of a caller's argument: 161002 (or another 16xxxx code) under EZ1001.
MLMARGIN_PRIVATE_API Status ParameterError(int32_t code, std::string text);

// ---- Executors -----------------------------------------------------------------------------

// The work of one phase 1, by value and immutable: addresses come at phase 2, in the order inputs,
// then outputs.
class Operator {
 public:
  virtual ~Operator() = default;
  // Judges what needs addresses (overlaps); called in phase 2 before anything is enqueued.
  virtual Status CheckAddresses(std::span<void* const> addresses) const = 0;
  // Does the work, on the stream's worker or on a thread that waits for it.
  virtual Status Run(std::span<void* const> addresses, void* workspace) const = 0;
};

// One tensor argument of an operator.
struct Argument {
  const char* name;  // As in the operator's prototype; a string literal.
  std::shared_ptr<const Tensor> tensor;
  // False when the work touches none of its data: phase 2 then asks nothing of its address.
  bool needs_data = true;
};

// Makes the executor of a phase 1 that passed its checks. `function` is the phase-2 function that
// may run it, a string literal.
MLMARGIN_PRIVATE_API Status CreateExecutor(const char* function, std::vector<Argument> inputs,
                                           std::vector<Argument> outputs, uint64_t workspace_bytes,
                                           std::shared_ptr<const Operator> op,
                                           aclOpExecutor** executor);

// Phase 2: checks executor, workspace, stream and tensor data (in this order), then enqueues the
// work and returns. A one-shot executor is consumed, on failure too, once it was found and is of
// this function. Codes: null executor 161001; spent, foreign or another function's 561103;
// workspace null where one is needed 161001, too small or not in device memory 161002; stream
// 107017, 107003, 107002; tensor data that is needed, null or outside any live device memory
// 161002; what the operator's CheckAddresses says; a stream that takes no work, as Enqueue says.
MLMARGIN_PRIVATE_API Status Launch(const char* function, void* workspace, uint64_t workspace_bytes,
                                   aclOpExecutor* executor, aclrtStream stream);

}  // namespace mlmargin::nnopbase

#endif  // MLMARGIN_NNOPBASE_PRIVATE_API_H_
