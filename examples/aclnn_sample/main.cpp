// SPDX-License-Identifier: Apache-2.0
// Two small batches through aclnnMultilabelMarginLoss: one with proper labels, one with labels
// out of range. C++11 and the public headers only, as a program for an NPU would be written.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_multilabel_margin_loss.h"

namespace {

const int32_t kDevice = 0;
const int64_t kReductionNone = 0;

// Ends the program, with what the library has to say, when a call has failed.
void Check(bool ok, const char* call, int status) {
  if (ok) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed with %d\n%s\n", call, status, text ? text : "");
  std::exit(EXIT_FAILURE);
}

void Check(int status, const char* call) { Check(status == ACL_SUCCESS, call, status); }

int64_t NumElements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) count *= shape[i];
  return count;
}

// A contiguous tensor in device memory of its own.
template <typename T>
class DeviceTensor {
 public:
  DeviceTensor(const std::vector<int64_t>& shape, aclDataType type)
      : count_(static_cast<size_t>(NumElements(shape))), memory_(nullptr) {
    Check(aclrtMalloc(&memory_, Bytes(), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    tensor_ = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND,
                              shape.data(), shape.size(), memory_);
    Check(tensor_ != nullptr, "aclCreateTensor", 0);
  }

  ~DeviceTensor() {
    aclDestroyTensor(tensor_);
    aclrtFree(memory_);
  }

  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  void CopyFrom(const std::vector<T>& host) {
    Check(aclrtMemcpy(memory_, Bytes(), host.data(), Bytes(), ACL_MEMCPY_HOST_TO_DEVICE),
          "aclrtMemcpy");
  }

  std::vector<T> CopyToHost() const {
    std::vector<T> host(count_);
    Check(aclrtMemcpy(host.data(), Bytes(), memory_, Bytes(), ACL_MEMCPY_DEVICE_TO_HOST),
          "aclrtMemcpy");
    return host;
  }

  aclTensor* get() const { return tensor_; }

 private:
  size_t Bytes() const { return count_ * sizeof(T); }

  size_t count_;
  void* memory_;
  aclTensor* tensor_;
};

// Both phases, and waits until the results are there.
void RunLoss(const aclTensor* self, const aclTensor* target, aclTensor* out, aclTensor* isTarget,
             aclrtStream stream) {
  uint64_t workspaceSize = 0;
  aclOpExecutor* executor = nullptr;
  Check(aclnnMultilabelMarginLossGetWorkspaceSize(self, target, kReductionNone, out, isTarget,
                                                  &workspaceSize, &executor),
        "aclnnMultilabelMarginLossGetWorkspaceSize");

  void* workspace = nullptr;
  if (workspaceSize > 0) {
    Check(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  }
  Check(aclnnMultilabelMarginLoss(workspace, workspaceSize, executor, stream),
        "aclnnMultilabelMarginLoss");
  Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
  if (workspace != nullptr) Check(aclrtFree(workspace), "aclrtFree");
}

void Print(const char* name, const std::vector<float>& values) {
  std::printf("  %s:", name);
  for (size_t i = 0; i < values.size(); ++i) std::printf(" %g", values[i]);
  std::printf("\n");
}

template <typename Label>
void RunBatch(const char* title, const std::vector<float>& scores, const std::vector<Label>& labels,
              aclDataType labelType, aclrtStream stream) {
  const std::vector<int64_t> rowsByClasses = {2, 3};
  const std::vector<int64_t> rows = {2};

  DeviceTensor<float> self(rowsByClasses, ACL_FLOAT);
  DeviceTensor<Label> target(rowsByClasses, labelType);
  DeviceTensor<float> out(rows, ACL_FLOAT);
  DeviceTensor<float> isTarget(rowsByClasses, ACL_FLOAT);
  self.CopyFrom(scores);
  target.CopyFrom(labels);

  RunLoss(self.get(), target.get(), out.get(), isTarget.get(), stream);

  std::printf("%s\n", title);
  Print("loss", out.CopyToHost());
  Print("isTarget", isTarget.CopyToHost());
}

}  // namespace

int main() {
  aclrtStream stream = nullptr;
  Check(aclInit(nullptr), "aclInit");
  Check(aclrtSetDevice(kDevice), "aclrtSetDevice");
  Check(aclrtCreateStream(&stream), "aclrtCreateStream");

  const std::vector<float> scores = {0, 1, 2, 3, 4, 5};
  // Row 0 has the labels 0 and 1, row 1 the label 2; -1 ends a row's list.
  const std::vector<int64_t> proper = {0, 1, -1, 2, -1, -1};
  RunBatch("proper labels", scores, proper, ACL_INT64, stream);
  // With three classes the labels 3, 4 and 5 of row 1 do not exist, and are skipped.
  const std::vector<int32_t> outOfRange = {0, 1, 2, 3, 4, 5};
  RunBatch("labels out of range", scores, outOfRange, ACL_INT32, stream);

  Check(aclrtDestroyStream(stream), "aclrtDestroyStream");
  Check(aclrtResetDevice(kDevice), "aclrtResetDevice");
  Check(aclFinalize(), "aclFinalize");
  return EXIT_SUCCESS;
}
