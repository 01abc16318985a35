// SPDX-License-Identifier: Apache-2.0
// A small operator for tests: out = first + second for contiguous int32 tensors of one dimension,
// put together in the workspace if it has one. Only second may have an offset.
#ifndef MLMARGIN_TESTS_NNOPBASE_SUM_OPERATOR_H_
#define MLMARGIN_TESTS_NNOPBASE_SUM_OPERATOR_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "nnopbase/nnopbase_fixture.h"
#include "nnopbase/private_api.h"

namespace mlmargin::nnopbase {

inline constexpr char kSum[] = "aclnnSum";

class SumOperator final : public Operator {
 public:
  SumOperator(int64_t size, int64_t second_offset) : size_(size), second_offset_(second_offset) {}
  ~SumOperator() override { ++num_destroyed; }

  Status CheckAddresses(std::span<void* const> addresses) const override {
    if (size_ == 0 || addresses[0] != addresses[2]) return {};
    return ParameterError(ACLNN_ERR_PARAM_INVALID, "out: must not be first");
  }

  Status Run(std::span<void* const> addresses, void* workspace) const override {
    ++num_runs;
    if (failure_code != 0) return {failure_code, "EZ2001", "the sum failed"};
    std::vector<int32_t> sum(static_cast<size_t>(size_));
    const auto* const first = static_cast<const int32_t*>(addresses[0]);
    const auto* const second = static_cast<const int32_t*>(addresses[1]) + second_offset_;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = first[i] + second[i];
    const size_t bytes = sum.size() * sizeof(int32_t);
    if (workspace != nullptr) std::memcpy(workspace, sum.data(), bytes);
    if (bytes != 0) std::memcpy(addresses[2], sum.data(), bytes);
    return {};
  }

  static inline std::atomic<int> num_runs = 0;
  static inline std::atomic<int> num_destroyed = 0;
  static inline std::atomic<int32_t> failure_code = 0;

 private:
  int64_t size_;
  int64_t second_offset_;
};

// Device memory that holds `values`; freed with it.
class DeviceInts {
 public:
  explicit DeviceInts(const std::vector<int32_t>& values) : count_(values.size()) {
    EXPECT_EQ(aclrtMalloc(&data_, std::max(bytes(), size_t{32}), ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_EQ(aclrtMemcpy(data_, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE), 0);
  }
  ~DeviceInts() { Free(); }
  DeviceInts(const DeviceInts&) = delete;
  DeviceInts& operator=(const DeviceInts&) = delete;

  void Free() {
    if (data_ != nullptr) {
      EXPECT_EQ(aclrtFree(data_), 0);
    }
    data_ = nullptr;
  }
  void* data() const { return data_; }
  size_t bytes() const { return count_ * sizeof(int32_t); }
  std::vector<int32_t> Values() const {
    std::vector<int32_t> values(count_);
    EXPECT_EQ(aclrtMemcpy(values.data(), bytes(), data_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST), 0);
    return values;
  }

 private:
  size_t count_;
  void* data_ = nullptr;
};

// What an operator's phase 1 does, without its checks.
inline aclOpExecutor* Phase1(const aclTensor* first, const aclTensor* second, const aclTensor* out,
                             uint64_t workspace_bytes = 0) {
  std::shared_ptr<const Tensor> a, b, c;
  EXPECT_TRUE(FindTensor(first, "first", &a).ok());
  EXPECT_TRUE(FindTensor(second, "second", &b).ok());
  EXPECT_TRUE(FindTensor(out, "out", &c).ok());
  aclOpExecutor* executor = nullptr;
  EXPECT_TRUE(CreateExecutor(kSum, {{"first", a}, {"second", b}}, {{"out", c}}, workspace_bytes,
                             std::make_shared<SumOperator>(a->view_shape[0], b->offset), &executor)
                  .ok());
  return executor;
}

// One sum (1, 2) + (10, 20) with tensors and memory of its own.
class SumTest : public runtime::DeviceSetTest {
 protected:
  void SetUp() override {
    DeviceSetTest::SetUp();
    SumOperator::num_runs = 0;
    SumOperator::num_destroyed = 0;
    SumOperator::failure_code = 0;
    memory_ = std::make_unique<Memory>();
    first_ = MakeTensor({.shape = {2}, .dtype = ACL_INT32, .data = memory_->first.data()});
    second_ = MakeTensor({.shape = {2}, .dtype = ACL_INT32, .data = memory_->second.data()});
    out_ = MakeTensor({.shape = {2}, .dtype = ACL_INT32, .data = memory_->out.data()});
  }
  void TearDown() override {
    memory_.reset();
    DeviceSetTest::TearDown();
  }

  aclOpExecutor* Phase1(uint64_t workspace_bytes = 0) {
    return nnopbase::Phase1(first_.get(), second_.get(), out_.get(), workspace_bytes);
  }
  // The code of a phase 2 that needs no workspace.
  static int32_t Phase2(aclOpExecutor* executor, aclrtStream stream = nullptr) {
    return Launch(kSum, nullptr, 0, executor, stream).code();
  }
  std::vector<int32_t> Out() {
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << TakeErrorText();
    return memory_->out.Values();
  }

  struct Memory {
    DeviceInts first{{1, 2}};
    DeviceInts second{{10, 20}};
    DeviceInts out{{-1, -1}};
  };
  std::unique_ptr<Memory> memory_;
  TensorHolder first_, second_, out_;
};

}  // namespace mlmargin::nnopbase

#endif  // MLMARGIN_TESTS_NNOPBASE_SUM_OPERATOR_H_
