// SPDX-License-Identifier: Apache-2.0
// What the tests of tensors and executors share.
#ifndef MLMARGIN_TESTS_NNOPBASE_NNOPBASE_FIXTURE_H_
#define MLMARGIN_TESTS_NNOPBASE_NNOPBASE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "opdev/op_errno.h"
#include "runtime/runtime_fixture.h"

namespace mlmargin::nnopbase {

using runtime::TakeErrorText;
using Dims = std::vector<int64_t>;

// The arguments of aclCreateTensor, with defaults for those a test does not care about.
struct TensorSpec {
  Dims shape;
  aclDataType dtype = ACL_FLOAT;
  Dims strides = {};  // Empty: a null pointer.
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_ND;
  Dims storage = {};  // Empty: as the shape.
  void* data = nullptr;
};

inline aclTensor* CreateTensor(const TensorSpec& spec) {
  const Dims& storage = spec.storage.empty() ? spec.shape : spec.storage;
  return aclCreateTensor(spec.shape.data(), spec.shape.size(), spec.dtype,
                         spec.strides.empty() ? nullptr : spec.strides.data(), spec.offset,
                         spec.format, storage.data(), storage.size(), spec.data);
}

struct DestroyTensor {
  void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
};
using TensorHolder = std::unique_ptr<aclTensor, DestroyTensor>;

inline TensorHolder MakeTensor(const TensorSpec& spec) {
  TensorHolder tensor(CreateTensor(spec));
  EXPECT_NE(tensor, nullptr) << TakeErrorText();
  return tensor;
}

// What a getter of a list hands out; frees it as a caller must.
using ListGetter = aclnnStatus (*)(const aclTensor*, int64_t**, uint64_t*);
inline Dims GetList(ListGetter getter, const aclTensor* tensor) {
  int64_t* values = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(getter(tensor, &values, &count), ACLNN_SUCCESS) << TakeErrorText();
  EXPECT_NE(values, nullptr);
  const std::unique_ptr<int64_t[]> owner(values);
  return Dims(values, values + count);
}

// A handle that was never handed out; nothing is at its address.
template <typename Handle>
Handle* ForeignHandle() {
  return reinterpret_cast<Handle*>(uintptr_t{0xAC00'0FFF'FFFF'FFF0});
}

}  // namespace mlmargin::nnopbase

#endif  // MLMARGIN_TESTS_NNOPBASE_NNOPBASE_FIXTURE_H_
