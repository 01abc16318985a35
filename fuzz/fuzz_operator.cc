// SPDX-License-Identifier: Apache-2.0
// Fuzzes both operators through the C API: any tensors into phase 1; what it accepts is run, and
// judged by exact arithmetic; what it refuses must have a reason, a documented code and a message.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "acl/acl.h"
#include "aclnnop/aclnn_multilabel_margin_loss.h"
#include "aclnnop/aclnn_multilabel_margin_loss_backward.h"
#include "mlmargin/settings.h"
#include "opdev/op_errno.h"
#include "operator_call.h"
#include "operator_model.h"

namespace mlmargin::fuzz {
namespace {

void Require(int32_t code, const char* what) {
  if (code == 0) return;
  const char* const text = aclGetRecentErrMsg();
  Fail(std::string(what) + " gives " + std::to_string(code) + ": " + (text == nullptr ? "" : text));
}

// The message of a failure must name an argument, as it stands in the function's prototype.
void ExpectMessage() {
  const char* const pending = aclGetRecentErrMsg();
  const std::string text = pending == nullptr ? "" : pending;
  constexpr const char* kNames[] = {"self",       "target",    "out",       "isTarget",
                                    "gradOutput", "gradInput", "reduction", "workspace",
                                    "executor",   "stream",    "index"};
  const bool named = std::any_of(std::begin(kNames), std::end(kNames), [&](const char* name) {
    return text.find(std::string(": ") + name) != std::string::npos ||
           text.find(std::string("argument ") + name) != std::string::npos;
  });
  if (!named) Fail("no argument is named in: " + text);
}

void ExpectCode(int32_t got, int32_t expected, const char* what) {
  if (got != expected) {
    const char* const text = aclGetRecentErrMsg();
    Fail(std::string(what) + " gives " + std::to_string(got) + " instead of " +
         std::to_string(expected) + ": " + (text == nullptr ? "" : text));
  }
  if (expected != 0) ExpectMessage();
}

// The tensors of a call as handles.
class Handles {
 public:
  explicit Handles(const OperatorCall& call) {
    for (const TensorSpec& tensor : call.tensors) handles_.push_back(tensor.Make());
  }
  ~Handles() { Destroy(); }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  void Destroy() {
    for (aclTensor* const handle : handles_) Require(aclDestroyTensor(handle), "aclDestroyTensor");
    handles_.clear();
    aclGetRecentErrMsg();  // What a failed creation left.
  }
  std::vector<aclTensor*>& all() { return handles_; }
  bool HasNull() const {
    return std::find(handles_.begin(), handles_.end(), nullptr) != handles_.end();
  }

 private:
  std::vector<aclTensor*> handles_;
};

class Run {
 public:
  explicit Run(Provider& provider) : provider_(provider), call_(provider), handles_(call_) {
    constexpr LabelCheck kChecks[] = {LabelCheck::kWarn, LabelCheck::kIgnore, LabelCheck::kError};
    label_check_ = Pick(provider, kChecks);
    SetLabelCheck(label_check_);
  }

  void Go() {
    if (!Plan()) return;
    const bool repeatable = OneIn(provider_, 3);
    if (repeatable) {
      Require(aclSetAclOpExecutorRepeatable(executor_), "aclSetAclOpExecutorRepeatable");
    } else if (provider_.ConsumeBool()) {
      handles_.Destroy();
    }
    for (int left = repeatable ? provider_.ConsumeIntegralInRange<int>(1, 3) : 1; left > 0;
         --left) {
      if (repeatable && OneIn(provider_, 2)) ChangeAddress();
      Execute();
    }
    if (repeatable) {
      Require(aclDestroyAclOpExecutor(executor_), "aclDestroyAclOpExecutor");
    }
    ExpectCode(PhaseTwo(nullptr, 0, executor_, nullptr), ACLNN_ERR_INNER_NULLPTR,
               "phase 2 with a spent executor");
  }

 private:
  // Phase 1; whether there is an executor to run.
  bool Plan() {
    std::vector<aclTensor*> arguments = handles_.all();
    int32_t expected = 0;
    const auto victim = provider_.ConsumeIntegralInRange<size_t>(0, arguments.size() - 1);
    if (OneIn(provider_, 16)) {
      arguments[victim] = nullptr;
    } else if (OneIn(provider_, 16) && !handles_.HasNull()) {
      arguments[victim] = DeadTensor();
      expected = ACLNN_ERR_PARAM_INVALID;
    }
    const bool has_null = std::find(arguments.begin(), arguments.end(), nullptr) != arguments.end();
    if (has_null) expected = ACLNN_ERR_PARAM_NULLPTR;
    aclGetRecentErrMsg();
    const std::vector<unsigned char> before = Snapshot();
    executor_ = reinterpret_cast<aclOpExecutor*>(&executor_);
    workspace_bytes_ = 77;
    const int32_t code = PhaseOne(arguments);
    if (Snapshot() != before) Fail("phase 1 wrote");
    if (expected == 0) {
      const std::optional<bool> acceptable = IsAcceptable(call_);
      const bool refused = acceptable.has_value() ? !*acceptable : code != 0;
      if (refused) expected = ACLNN_ERR_PARAM_INVALID;
    }
    ExpectCode(code, expected, "phase 1");
    if (code != 0) {
      if (executor_ != nullptr) Fail("a failed phase 1 leaves an executor");
      if (workspace_bytes_ != 77) Fail("a failed phase 1 writes workspaceSize");
      return false;
    }
    if (workspace_bytes_ != ExpectedWorkspace()) {
      Fail("a workspace of " + std::to_string(workspace_bytes_) + " bytes");
    }
    return true;
  }

  uint64_t ExpectedWorkspace() const {
    const std::vector<int64_t>& self = call_.Named("self").shape;
    const bool rows = self.size() == 2 && self[0] > 1;
    if (call_.kind == OperatorKind::kBackward || call_.reduction == 0 || !rows) return 0;
    return 8 * (static_cast<uint64_t>(self[0]) + 1);
  }

  static aclTensor* DeadTensor() {
    const int64_t one = 1;
    aclTensor* const tensor =
        aclCreateTensor(&one, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &one, 1, nullptr);
    Require(aclDestroyTensor(tensor), "aclDestroyTensor");
    return tensor;
  }

  int32_t PhaseOne(const std::vector<aclTensor*>& t) {
    if (call_.kind == OperatorKind::kLoss) {
      return aclnnMultilabelMarginLossGetWorkspaceSize(t[0], t[1], call_.reduction, t[2], t[3],
                                                       &workspace_bytes_, &executor_);
    }
    return aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
        t[0], t[1], t[2], call_.reduction, t[3], t[4], &workspace_bytes_, &executor_);
  }

  int32_t PhaseTwo(void* workspace, uint64_t bytes, aclOpExecutor* executor, aclrtStream stream) {
    return call_.kind == OperatorKind::kLoss
               ? aclnnMultilabelMarginLoss(workspace, bytes, executor, stream)
               : aclnnMultilabelMarginLossBackward(workspace, bytes, executor, stream);
  }

  std::vector<unsigned char> Snapshot() const {
    return {call_.arena->data(), call_.arena->data() + call_.arena->bytes()};
  }

  // Somewhere in the arena, right or wrong, or nowhere.
  void ChangeAddress() {
    const auto index = provider_.ConsumeIntegralInRange<size_t>(0, call_.tensors.size() - 1);
    TensorSpec& tensor = call_.tensors[index];
    if (provider_.ConsumeBool()) {
      tensor.data =
          call_.arena->data() + provider_.ConsumeIntegralInRange<size_t>(0, call_.arena->bytes());
    } else if (OneIn(provider_, 4)) {
      tensor.data = nullptr;
    }
    const size_t inputs = call_.kind == OperatorKind::kLoss ? 2 : 4;
    aclTensor* const handle = handles_.all()[index];
    if (provider_.ConsumeBool()) {
      Require(aclSetTensorAddr(executor_, index, handle, tensor.data), "aclSetTensorAddr");
    } else if (index < inputs) {
      Require(aclSetInputTensorAddr(executor_, index, handle, tensor.data),
              "aclSetInputTensorAddr");
    } else {
      Require(aclSetOutputTensorAddr(executor_, index - inputs, handle, tensor.data),
              "aclSetOutputTensorAddr");
    }
    ExpectCode(aclSetTensorAddr(executor_, call_.tensors.size(), handle, nullptr),
               ACLNN_ERR_PARAM_INVALID, "an index past the end");
  }

  void Execute() {
    const std::vector<unsigned char> before = Snapshot();
    std::optional<Arena> workspace;
    if (workspace_bytes_ > 0) workspace.emplace(workspace_bytes_);
    void* address = workspace.has_value() ? workspace->data() : nullptr;
    uint64_t bytes = workspace_bytes_;
    aclrtStream stream = nullptr;
    int32_t expected = 0;
    switch (provider_.ConsumeIntegralInRange<int>(0, 20)) {
      case 17:
        stream = &expected;
        expected = ACL_ERROR_RT_INVALID_HANDLE;
        break;
      case 18:
        if (bytes > 0) expected = ACLNN_ERR_PARAM_INVALID;
        if (bytes > 0) --bytes;
        break;
      case 19:
        address = nullptr;
        if (bytes > 0) expected = ACLNN_ERR_PARAM_NULLPTR;
        break;
      case 20:
        if (bytes > 0) expected = ACLNN_ERR_PARAM_INVALID;
        if (bytes > 0) address = &bytes;  // Of the host.
        break;
      default:
        break;
    }
    aclGetRecentErrMsg();
    const int32_t code = PhaseTwo(address, bytes, executor_, stream);
    if (expected == 0) {
      const std::optional<bool> runnable = IsRunnable(call_);
      // Nothing huge fits into the arena.
      if (!runnable.value_or(false)) expected = ACLNN_ERR_PARAM_INVALID;
    }
    ExpectCode(code, expected, "phase 2");
    if (code != 0) {
      Require(aclrtSynchronizeStream(nullptr), "aclrtSynchronizeStream");
      if (Snapshot() != before) Fail("a refused phase 2 wrote");
      return;
    }
    const bool rejected = label_check_ == LabelCheck::kError && HasBadLabels(call_);
    ExpectCode(aclrtSynchronizeStream(nullptr), rejected ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : 0,
               "aclrtSynchronizeStream");
    JudgeMemory(call_, before, rejected);
  }

  Provider& provider_;
  OperatorCall call_;
  Handles handles_;
  LabelCheck label_check_ = LabelCheck::kWarn;
  uint64_t workspace_bytes_ = 0;
  aclOpExecutor* executor_ = nullptr;
};

bool SetUp() {
  setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", /*overwrite=*/1);
  Require(aclInit(nullptr), "aclInit");
  Require(aclrtSetDevice(0), "aclrtSetDevice");
  return true;
}

}  // namespace
}  // namespace mlmargin::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mlmargin::fuzz;
  [[maybe_unused]] static const bool is_set_up = SetUp();
  Provider provider(data, size);
  Run(provider).Go();
  return 0;
}
