// SPDX-License-Identifier: Apache-2.0
// Tensors for the tests of phase 1: handles without data, right or wrong.
#ifndef MLMARGIN_TESTS_OPAPI_TENSOR_SPEC_H_
#define MLMARGIN_TESTS_OPAPI_TENSOR_SPEC_H_

#include <cstdint>
#include <vector>

#include "aclnn/acl_meta.h"

namespace mlmargin::testing {

// A tensor described, not yet made.
struct Spec {
  std::vector<int64_t> shape;
  aclDataType dtype = ACL_FLOAT;
  std::vector<int64_t> strides = {};  // Empty: contiguous.
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_ND;
  std::vector<int64_t> storage = {64};
  void* data = nullptr;
};

inline aclTensor* Make(const Spec& spec) {
  return aclCreateTensor(spec.shape.data(), spec.shape.size(), spec.dtype,
                         spec.strides.empty() ? nullptr : spec.strides.data(), spec.offset,
                         spec.format, spec.storage.data(), spec.storage.size(), spec.data);
}

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_OPAPI_TENSOR_SPEC_H_
