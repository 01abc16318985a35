// SPDX-License-Identifier: Apache-2.0
#include "stress/work.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "aclnnop/aclnn_ops_nn.h"
#include "support/exact_gradient.h"

namespace mlmargin::testing {
namespace {

// Set-up that fails leaves nothing to test.
void Require(bool right, const char* what) {
  if (right) return;
  const char* const message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed: %s\n", what, message == nullptr ? "" : message);
  std::abort();
}

aclDataType AclType(const FloatFormat& format) {
  if (format.bits == 32) return ACL_FLOAT;
  return format.mantissa_bits == 10 ? ACL_FLOAT16 : ACL_BF16;
}

// A zero with the sign of the exact value, for UlpError is strict about it.
uint32_t WithSignOf(const ExactValue& exact, const FloatFormat& format, uint32_t bits) {
  const uint32_t sign = 1U << (format.bits - 1);
  if ((bits & ~sign) != 0) return bits;
  return exact.value < 0 ? sign : 0;
}

}  // namespace

std::string WorkKind::Name() const {
  return batch.Name() + ", reduction " + std::to_string(reduction) +
         (backward ? ", gradient" : ", loss");
}

std::vector<WorkKind> SmallWork(uint64_t seed) {
  std::vector<WorkKind> kinds;
  for (const FloatFormat& format : {kFloat32, kFloat16, kBFloat16}) {
    for (const int64_t reduction : {0, 1, 2}) {
      for (const bool backward : {false, true}) {
        const int64_t rows = 1 + static_cast<int64_t>((seed + kinds.size()) % 7);
        const int64_t classes = 3 + 11 * static_cast<int64_t>((seed + 3 * kinds.size()) % 9);
        const Density density = kinds.size() % 2 == 0 ? Density::kFew : Density::kHalf;
        kinds.push_back(
            {MakeBatch(format, rows, classes, density, Spread::kOrdinary, seed + kinds.size()),
             reduction, backward, kinds.size() % 3 == 0});
      }
    }
  }
  return kinds;
}

std::vector<WorkKind> LargeWork(uint64_t seed) {
  std::vector<WorkKind> kinds;
  constexpr std::pair<int64_t, int64_t> kShapes[] = {{300, 1000}, {3, 100'000}, {2000, 40}};
  for (const auto& [rows, classes] : kShapes) {
    for (const bool backward : {false, true}) {
      for (const FloatFormat& format : {kFloat32, kBFloat16}) {
        const Density density = classes < 50'000 && backward ? Density::kHalf : Density::kFew;
        kinds.push_back(
            {MakeBatch(format, rows, classes, density, Spread::kOrdinary, seed + kinds.size()),
             static_cast<int64_t>(kinds.size() % 3), backward, kinds.size() % 2 == 0});
      }
    }
  }
  return kinds;
}

Work::Work(const WorkKind& kind)
    : kind_(kind), element_bytes_(static_cast<size_t>(kind.batch.format.bits) / 8) {
  const Batch& batch = kind_.batch;
  const std::vector<int64_t> matrix = {batch.rows, batch.classes};
  const std::vector<int64_t> losses =
      kind_.reduction == 0 ? std::vector<int64_t>{batch.rows} : std::vector<int64_t>{};
  const auto num_losses = static_cast<size_t>(kind_.reduction == 0 ? batch.rows : 1);
  const auto num_elements = static_cast<size_t>(batch.rows * batch.classes);
  const aclDataType type = AclType(batch.format);
  const std::vector<int64_t> scores(batch.scores.begin(), batch.scores.end());
  for (size_t k = 0; kind_.backward && k < num_losses; ++k) {
    grad_outputs_.push_back(EncodeNear(batch.format, 1.5 - static_cast<double>(k % 4)));
  }
  num_results_ = kind_.backward ? num_elements : num_losses;
  const std::vector<int64_t> spoilt(num_results_, -1);
  if (kind_.backward) {
    AddTensor(losses, type, Upload({grad_outputs_.begin(), grad_outputs_.end()}, element_bytes_));
  }
  AddTensor(matrix, type, Upload(scores, element_bytes_));
  const size_t label_bytes = kind_.int32_labels ? 4 : 8;
  AddTensor(matrix, kind_.int32_labels ? ACL_INT32 : ACL_INT64, Upload(batch.labels, label_bytes));
  result_ = Upload(spoilt, element_bytes_);
  void* const mask = Upload(scores, element_bytes_);
  if (kind_.backward) {
    AddTensor(matrix, type, mask);
    AddTensor(matrix, type, result_);
  } else {
    AddTensor(losses, type, result_);
    AddTensor(matrix, type, mask);
  }
}

Work::~Work() {
  if (repeatable_ != nullptr) aclDestroyAclOpExecutor(repeatable_);
  for (const aclTensor* tensor : tensors_) aclDestroyTensor(tensor);
  for (void* memory : memory_) aclrtFree(memory);
  if (workspace_ != nullptr) aclrtFree(workspace_);
}

void* Work::Upload(const std::vector<int64_t>& values, size_t element_bytes) {
  std::vector<unsigned char> bytes(values.size() * element_bytes);
  for (size_t k = 0; k < values.size(); ++k) {  // Little-endian.
    std::memcpy(bytes.data() + k * element_bytes, &values[k], element_bytes);
  }
  void* memory = nullptr;
  Require(aclrtMalloc(&memory, bytes.size(), ACL_MEM_MALLOC_HUGE_FIRST) == 0, "aclrtMalloc");
  Require(
      aclrtMemcpy(memory, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE) == 0,
      "aclrtMemcpy");
  memory_.push_back(memory);
  return memory;
}

void Work::AddTensor(std::vector<int64_t> shape, aclDataType type, void* data) {
  tensors_.push_back(aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND,
                                     shape.data(), shape.size(), data));
  Require(tensors_.back() != nullptr, "aclCreateTensor");
}

int32_t Work::Plan(aclOpExecutor** executor) {
  uint64_t bytes = 0;
  const int32_t code =
      kind_.backward
          ? aclnnMultilabelMarginLossBackwardGetWorkspaceSize(tensors_[0], tensors_[1], tensors_[2],
                                                              kind_.reduction, tensors_[3],
                                                              tensors_[4], &bytes, executor)
          : aclnnMultilabelMarginLossGetWorkspaceSize(tensors_[0], tensors_[1], kind_.reduction,
                                                      tensors_[2], tensors_[3], &bytes, executor);
  if (code != 0 || bytes <= workspace_bytes_) return code;
  workspace_bytes_ = bytes;
  return aclrtMalloc(&workspace_, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
}

int32_t Work::Launch(aclrtStream stream, bool repeated) {
  aclOpExecutor* executor = repeated ? repeatable_ : nullptr;
  if (executor == nullptr) {
    int32_t code = Plan(&executor);
    if (code == 0 && repeated) code = aclSetAclOpExecutorRepeatable(executor);
    if (code != 0) return code;
    if (repeated) repeatable_ = executor;
  }
  return kind_.backward
             ? aclnnMultilabelMarginLossBackward(workspace_, workspace_bytes_, executor, stream)
             : aclnnMultilabelMarginLoss(workspace_, workspace_bytes_, executor, stream);
}

std::vector<uint32_t> Work::TakeResult() {
  std::vector<unsigned char> bytes(num_results_ * element_bytes_);
  Require(aclrtMemcpy(bytes.data(), bytes.size(), result_, bytes.size(),
                      ACL_MEMCPY_DEVICE_TO_HOST) == 0,
          "aclrtMemcpy");
  Require(aclrtMemset(result_, bytes.size(), 0xFF, bytes.size()) == 0, "aclrtMemset");
  std::vector<uint32_t> result(num_results_);
  for (size_t k = 0; k < num_results_; ++k) {
    std::memcpy(&result[k], bytes.data() + k * element_bytes_, element_bytes_);
  }
  return result;
}

bool Work::IsExact(const std::vector<uint32_t>& result) const {
  const FloatFormat& format = kind_.batch.format;
  const std::vector<ExactValue> exact =
      kind_.backward ? ExpectedGradient(kind_.batch).Values(kind_.reduction, grad_outputs_)
                     : Expected(kind_.batch).Losses(kind_.reduction);
  if (result.size() != exact.size()) return false;
  for (size_t k = 0; k < exact.size(); ++k) {
    const uint32_t bits = kind_.backward ? WithSignOf(exact[k], format, result[k]) : result[k];
    if (!(UlpError(format, exact[k], bits) <= 1)) return false;
  }
  return true;
}

}  // namespace mlmargin::testing
