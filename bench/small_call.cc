// SPDX-License-Identifier: Apache-2.0
#include "small_call.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_multilabel_margin_loss.h"
#include "mlmargin/settings.h"

namespace mlmargin::bench {
namespace {

void Require(bool ok, const char* what) {
  if (ok) return;
  const char* const message = aclGetRecentErrMsg();
  throw std::runtime_error(std::string(what) + " failed: " + (message == nullptr ? "" : message));
}

class Device {
 public:
  Device() { Require(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0, "aclInit"); }
  ~Device() {
    aclrtResetDevice(0);
    aclFinalize();
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
};

class Tensor {
 public:
  template <typename T, size_t kSize>
  Tensor(const std::vector<int64_t>& shape, aclDataType type, const std::array<T, kSize>& values) {
    constexpr size_t kBytes = kSize * sizeof(T);
    Require(aclrtMalloc(&data_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0, "aclrtMalloc");
    Require(aclrtMemcpy(data_, kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE) == 0,
            "aclrtMemcpy");
    tensor_ = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND,
                              shape.data(), shape.size(), data_);
    Require(tensor_ != nullptr, "aclCreateTensor");
  }
  ~Tensor() {
    aclDestroyTensor(tensor_);
    aclrtFree(data_);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  const aclTensor* get() const { return tensor_; }
  aclTensor* get() { return tensor_; }
  const void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  aclTensor* tensor_ = nullptr;
};

struct Call {
  Tensor self{{2, 3}, ACL_FLOAT, std::array<float, 6>{0, 1, 2, 3, 4, 5}};
  Tensor target{{2, 3}, ACL_INT64, std::array<int64_t, 6>{0, 1, -1, 2, -1, -1}};
  Tensor out{{2}, ACL_FLOAT, std::array<float, 2>{}};
  Tensor mask{{2, 3}, ACL_FLOAT, std::array<float, 6>{}};

  void Run() {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    Require(aclnnMultilabelMarginLossGetWorkspaceSize(self.get(), target.get(), 0, out.get(),
                                                      mask.get(), &bytes, &executor) == 0,
            "phase 1");
    Require(aclnnMultilabelMarginLoss(nullptr, 0, executor, nullptr) == 0, "phase 2");
    Require(aclrtSynchronizeStream(nullptr) == 0, "the wait");
  }

  // Row 0: (1 - 0 + 2) + (1 - 1 + 2), row 1: nothing; over 3.
  void Check() {
    Run();
    std::array<float, 2> losses = {};
    Require(aclrtMemcpy(losses.data(), sizeof(losses), out.data(), sizeof(losses),
                        ACL_MEMCPY_DEVICE_TO_HOST) == 0,
            "aclrtMemcpy");
    if (std::fabs(losses[0] - 5.0f / 3) > 1e-6f || losses[1] != 0) {
      throw std::runtime_error("the small call's loss is wrong");
    }
  }
};

}  // namespace

SmallCallTimes MeasureSmallCall(PyTorch* pytorch, int turns) {
  constexpr int kCalls = 2000;
  if (!SetNumThreads(1).ok()) throw std::runtime_error("SetNumThreads");
  const Device device;
  Call call;
  call.Check();
  SmallCallTimes result;
  std::vector<double> times;
  for (int turn = 0; turn < turns; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call.Run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    times.push_back(seconds.count() / kCalls);
    if (pytorch == nullptr) continue;
    const PyTorch::SmallCall theirs = pytorch->RunSmall(kCalls);
    if (!result.pytorch) result.pytorch = theirs;
    result.pytorch->operator_seconds =
        std::min(result.pytorch->operator_seconds, theirs.operator_seconds);
    result.pytorch->functional_seconds =
        std::min(result.pytorch->functional_seconds, theirs.functional_seconds);
  }
  std::sort(times.begin(), times.end());
  result.seconds = times.front();
  result.median_seconds = times[times.size() / 2];
  return result;
}

}  // namespace mlmargin::bench
