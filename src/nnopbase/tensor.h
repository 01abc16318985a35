// SPDX-License-Identifier: Apache-2.0
// The tensors behind aclTensor handles.
#ifndef MLMARGIN_NNOPBASE_TENSOR_H_
#define MLMARGIN_NNOPBASE_TENSOR_H_

#include <cstdint>

#include "nnopbase/private_api.h"
#include "runtime/handle_table.h"

namespace mlmargin::nnopbase {

// All live tensors. Never destroyed, so that calls from static destructors work.
runtime::HandleTable<const Tensor>& Tensors();

// The arguments of aclCreateTensor and aclInitTensor.
struct TensorArguments {
  const int64_t* view_dims;
  uint64_t view_dims_num;
  aclDataType dtype;
  const int64_t* stride;
  int64_t offset;
  aclFormat format;
  const int64_t* storage_dims;
  uint64_t storage_dims_num;
  void* data;
};

// Checks the arguments and, if they are right, lays them over `tensor`: a count of 0 and null data
// leave what it has, null strides are contiguous. 161001 for dims that are null with a count above
// 0; 161002 for a negative dim, stride or offset and for a rank above kMaxRank. The data type, the
// format and whether the view lies inside its storage are the operator's to judge.
Status ApplyArguments(const TensorArguments& arguments, Tensor* tensor);

// Far more than any operator takes; a count above it is garbage, and would be read as a length.
inline constexpr uint64_t kMaxRank = 64;

}  // namespace mlmargin::nnopbase

#endif  // MLMARGIN_NNOPBASE_TENSOR_H_
