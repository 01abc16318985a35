// SPDX-License-Identifier: Apache-2.0
#include "faults/operator_flow.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_ops_nn.h"
#include "mlmargin/settings.h"

namespace mlmargin::testing {
namespace {

// Lists of more than 64 labels, which the kernel keeps on the heap. All scores are equal, so that
// every hinge is 1, and the losses are exact.
constexpr int64_t kRows = 2;
constexpr int64_t kClasses = 256;
constexpr int64_t kLabels = 128;
constexpr size_t kElements = kRows * kClasses;
constexpr float kLoss = kLabels * (kClasses - kLabels) / static_cast<float>(kClasses);

// Out of memory in the runtime, of what was asked for, of a thread; in an aclnn function.
bool IsShortageCode(int32_t code) {
  constexpr int32_t kCodes[] = {200000, 207001, 207005, 561000};
  return std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
}

bool HasMessage() { return aclGetRecentErrMsg() != nullptr; }

// A function that answers with a handle says only by a null that it failed, and by the last error.
template <class Handle>
int32_t CodeOf(Handle* handle) {
  return handle != nullptr ? 0 : aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

// Nothing in here may ask for memory while faults are armed but through the library.
class OperatorFlow {
 public:
  explicit OperatorFlow(Attempt attempt) : run_(attempt, {&IsShortageCode, &HasMessage}) {
    labels_.fill(-1);
    for (size_t row = 0; row < kRows; ++row) {
      for (size_t i = 0; i < kLabels; ++i) {
        labels_[row * kClasses + i] = static_cast<int64_t>(2 * i);
      }
    }
  }

  void Run() {
    SetUp() && MakeObjects() && Copy() && MakeTensors() && MakeValues() && Loss() &&
        RepeatedLoss() && Gradient() && RejectedLabels() && Callbacks() && Events() && CopyBack();
    TearDown();
  }

 private:
  bool SetUp();
  bool MakeObjects();
  bool Copy();
  bool MakeTensors();
  bool MakeValues();
  bool Loss();
  bool RepeatedLoss();
  bool Gradient();
  bool RejectedLabels();
  bool Callbacks();
  bool Events();
  bool CopyBack();
  void TearDown();

  int32_t Phase1(aclOpExecutor** executor, uint64_t* workspace_bytes) {
    return aclnnMultilabelMarginLossGetWorkspaceSize(tensors_[0], tensors_[1], /*reduction=*/2,
                                                     tensors_[2], tensors_[3], workspace_bytes,
                                                     executor);
  }
  int32_t RunLoss(aclrtStream stream) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    int32_t code = Phase1(&executor, &bytes);
    if (code == 0) code = aclnnMultilabelMarginLoss(workspace_, bytes, executor, stream);
    return code != 0 ? code : aclrtSynchronizeStream(stream);
  }
  bool LossIsRight() {
    float loss = 0;
    return run_.Do("aclrtMemcpy", [&] {
      return aclrtMemcpy(&loss, sizeof(loss), device_[2], sizeof(loss), ACL_MEMCPY_DEVICE_TO_HOST);
    }) && (run_.Check("the loss", loss == kRows * kLoss), true);
  }

  FlowRun run_;
  bool initialized_ = false;
  aclrtContext context_ = nullptr;
  std::array<aclrtStream, 2> streams_{};
  std::array<aclrtEvent, 3> events_{};
  std::array<void*, 5> device_{};  // self, target, out, isTarget, gradInput.
  void* workspace_ = nullptr;
  void* pinned_ = nullptr;
  void* registered_ = nullptr;
  std::array<aclTensor*, 5> tensors_{};
  aclTensor* listed_ = nullptr;
  aclTensorList* list_ = nullptr;
  aclIntArray* array_ = nullptr;
  aclScalar* scalar_ = nullptr;
  aclDataBuffer* buffer_ = nullptr;
  bool subscribed_ = false;
  int callbacks_run_ = 0;

  std::array<int64_t, kElements> labels_;
  std::array<float, kElements> scores_{};
  alignas(4096) std::array<std::byte, 4096> page_{};
};

bool OperatorFlow::SetUp() {
  return run_.Do("aclInit",
                 [&] {
                   const int32_t code = aclInit(operator_flow_config.c_str());
                   initialized_ = code == 0;
                   return code;
                 }) &&
         run_.Do("aclrtResetDeviceForce", [] { return aclrtResetDeviceForce(0); }) &&
         run_.Do("aclrtSetDevice", [] { return aclrtSetDevice(0); }) &&
         run_.Do("aclrtCreateContext", [&] { return aclrtCreateContext(&context_, 0); });
}

bool OperatorFlow::MakeObjects() {
  for (aclrtStream& stream : streams_) {
    if (!run_.Do("aclrtCreateStream", [&] { return aclrtCreateStream(&stream); })) return false;
  }
  for (void*& memory : device_) {
    const auto allocate = [&] { return aclrtMalloc(&memory, 8 * kElements, {}); };
    if (!run_.Do("aclrtMalloc", allocate)) return false;
  }
  return run_.Do("aclrtCreateEvent", [&] {
    return aclrtCreateEvent(&events_[0]);
  }) && run_.Do("aclrtCreateEventWithFlag", [&] {
    return aclrtCreateEventWithFlag(&events_[1], ACL_EVENT_SYNC);
  }) && run_.Do("aclrtCreateEventExWithFlag", [&] {
    return aclrtCreateEventExWithFlag(&events_[2], ACL_EVENT_SYNC);
  }) && run_.Do("aclrtMalloc", [&] {
    return aclrtMalloc(&workspace_, 4096, {});
  }) && run_.Do("aclrtMallocHost", [&] {
    return aclrtMallocHost(&pinned_, 8 * kElements);
  }) && run_.Do("aclrtHostRegister", [&] {
    return aclrtHostRegister(page_.data(), page_.size(), ACL_HOST_REGISTER_MAPPED, &registered_);
  }) && run_.Do("aclCreateDataBuffer", [&] {
    buffer_ = aclCreateDataBuffer(pinned_, 8 * kElements);
    return CodeOf(buffer_);
  });
}

// All kinds of copies and fills; in the end self has the scores and target the labels.
bool OperatorFlow::Copy() {
  constexpr size_t kScoreBytes = sizeof(float) * kElements;
  std::memcpy(pinned_, scores_.data(), kScoreBytes);
  return run_.Do("aclrtMemcpy", [&] {
    return aclrtMemcpy(device_[1], 8 * kElements, labels_.data(), 8 * kElements,
                       ACL_MEMCPY_HOST_TO_DEVICE);
  }) && run_.Do("aclrtMemsetAsync", [&] {
    const int32_t code =
        aclrtMemsetAsync(device_[0], 8 * kElements, 0x55, 8 * kElements, streams_[0]);
    return code != 0 ? code : aclrtSynchronizeStream(streams_[0]);
  }) && run_.Do("aclrtMemcpyAsync from the stack", [&] {
    return aclrtMemcpyAsync(device_[0], 8 * kElements, scores_.data(), kScoreBytes,
                            ACL_MEMCPY_HOST_TO_DEVICE, streams_[0]);
  }) && run_.Do("aclrtMemcpyAsync", [&] {
    for (const aclrtMemcpyKind kind :
         {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE}) {
      const int32_t code =
          aclrtMemcpyAsync(device_[0], 8 * kElements, pinned_, kScoreBytes, kind, streams_[0]);
      if (code != 0) return code;
    }
    return aclrtMemcpy2dAsync(registered_, 64, pinned_, 64, 32, 8, ACL_MEMCPY_HOST_TO_DEVICE,
                              nullptr);
  }) && run_.Do("aclrtSynchronizeDevice", [] { return aclrtSynchronizeDevice(); });
}

bool OperatorFlow::MakeTensors() {
  constexpr std::array<int64_t, 2> kShape = {kRows, kClasses};
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const bool is_out = i == 2;
    const auto create = [&] {
      tensors_[i] = aclCreateTensor(kShape.data(), is_out ? 0 : 2, i == 1 ? ACL_INT64 : ACL_FLOAT,
                                    nullptr, 0, ACL_FORMAT_ND, kShape.data(), 2, device_[i]);
      return CodeOf(tensors_[i]);
    };
    if (!run_.Do("aclCreateTensor", create)) return false;
  }
  return run_.Do("aclGetViewShape", [&] {
    int64_t* dims = nullptr;
    uint64_t count = 0;
    const int32_t code = aclGetViewShape(tensors_[0], &dims, &count);
    delete[] dims;
    return code;
  });
}

bool OperatorFlow::MakeValues() {
  constexpr std::array<int64_t, 2> kShape = {1, 2};
  float value = 1;
  return run_.Do("aclCreateIntArray", [&] {
    array_ = aclCreateIntArray(kShape.data(), 2);
    return CodeOf(array_);
  }) && run_.Do("aclCreateScalar", [&] {
    scalar_ = aclCreateScalar(&value, ACL_FLOAT);
    return CodeOf(scalar_);
  }) && run_.Do("aclCreateTensor", [&] {
    listed_ = aclCreateTensor(kShape.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, kShape.data(),
                              2, nullptr);
    return CodeOf(listed_);
  }) && run_.Do("aclCreateTensorList", [&] {
    list_ = aclCreateTensorList(&listed_, 1);
    return CodeOf(list_);
  });
}

// On a stream of its own, and on the default one. A phase 2 that failed has spent its executor.
bool OperatorFlow::Loss() {
  return run_.Do("the loss", [&] { return RunLoss(streams_[0]); }) &&
         run_.Do("the loss, default stream", [&] { return RunLoss(nullptr); }) && LossIsRight();
}

bool OperatorFlow::RepeatedLoss() {
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  const bool done = run_.Do("phase 1", [&] {
    return Phase1(&executor, &bytes);
  }) && run_.Do("aclSetAclOpExecutorRepeatable", [&] {
    return aclSetAclOpExecutorRepeatable(executor);
  }) && run_.Do("aclSetInputTensorAddr", [&] {
    return aclSetInputTensorAddr(executor, 0, tensors_[0], device_[0]);
  }) && run_.Do("a repeated phase 2", [&] {
    for (size_t i = 0; i < 3; ++i) {
      const int32_t code = aclnnMultilabelMarginLoss(workspace_, bytes, executor, streams_[i % 2]);
      if (code != 0) return code;
      // They share their output.
      if (const int32_t failure = aclrtSynchronizeDevice(); failure != 0) return failure;
    }
    return 0;
  }) && LossIsRight();
  if (executor != nullptr) {
    run_.GiveBack("aclDestroyAclOpExecutor", aclDestroyAclOpExecutor(executor));
  }
  return done;
}

bool OperatorFlow::Gradient() {
  const auto run = [&] {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    int32_t code = aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
        tensors_[2], tensors_[0], tensors_[1], /*reduction=*/2, tensors_[3], tensors_[4], &bytes,
        &executor);
    if (code == 0) code = aclnnMultilabelMarginLossBackward(nullptr, 0, executor, streams_[1]);
    return code != 0 ? code : aclrtSynchronizeStreamWithTimeout(streams_[1], 60'000);
  };
  std::array<float, 2> gradient{};
  const auto copy = [&] {
    return aclrtMemcpy(gradient.data(), sizeof(gradient), device_[4], sizeof(gradient),
                       ACL_MEMCPY_DEVICE_TO_HOST);
  };
  if (!run_.Do("the gradient", run) || !run_.Do("aclrtMemcpy", copy)) return false;
  // gradOutput is the loss. Class 0 is a label with a hinge for each other class, 1 is another.
  constexpr float kGradient = kRows * kLoss * kLabels / static_cast<float>(kClasses);
  run_.Check("the gradient", gradient[0] == -kGradient && gradient[1] == kGradient);
  return true;
}

// A label out of range, first reported and then logged.
bool OperatorFlow::RejectedLabels() {
  constexpr int32_t kRejected = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
  const auto set_label = [&](int64_t label) {
    return run_.Do("aclrtMemcpy", [&] {
      return aclrtMemcpy(device_[1], sizeof(label), &label, sizeof(label),
                         ACL_MEMCPY_HOST_TO_DEVICE);
    });
  };
  if (!set_label(kClasses)) return false;
  SetLabelCheck(LabelCheck::kError);
  const bool rejected = run_.Do("the label error", [&] {
    const int32_t code = RunLoss(streams_[0]);
    if (code != kRejected) return code;
    aclGetRecentErrMsg();
    return 0;
  });
  SetLabelCheck(LabelCheck::kWarn);
  return rejected && run_.Do("the label warning", [&] { return RunLoss(streams_[0]); }) &&
         set_label(0);
}

bool OperatorFlow::Callbacks() {
  const auto count = [](void* counter) { ++*static_cast<int*>(counter); };
  const auto me = static_cast<uint64_t>(pthread_self());
  callbacks_run_ = 0;
  const bool done = run_.Do("aclrtLaunchHostFunc", [&] {
    const int32_t code = aclrtLaunchHostFunc(streams_[1], count, &callbacks_run_);
    return code != 0 ? code : aclrtSynchronizeStream(streams_[1]);
  }) && run_.Do("aclrtSubscribeReport", [&] {
    const int32_t code = aclrtSubscribeReport(me, streams_[0]);
    subscribed_ = code == 0;
    return code;
  }) && run_.Do("aclrtLaunchCallback", [&] {
    int32_t code = aclrtLaunchCallback(count, &callbacks_run_, ACL_CALLBACK_BLOCK, streams_[0]);
    if (code == 0) code = aclrtProcessReport(30'000);
    return code != 0 ? code : aclrtSynchronizeStream(streams_[0]);
  });
  if (subscribed_) {
    run_.GiveBack("aclrtUnSubscribeReport", aclrtUnSubscribeReport(me, streams_[0]));
    subscribed_ = false;
  }
  run_.Check("the number of callbacks", callbacks_run_ == 2);
  return done;
}

// A record on one stream that the other waits for, with each kind of event.
bool OperatorFlow::Events() {
  for (aclrtEvent event : events_) {
    const auto record_and_wait = [&] {
      int32_t code = aclrtMemsetAsync(device_[3], 8 * kElements, 1, 8 * kElements, streams_[0]);
      if (code == 0) code = aclrtRecordEvent(event, streams_[0]);
      if (code == 0) code = aclrtStreamWaitEvent(streams_[1], event);
      if (code == 0) code = aclrtSynchronizeStream(streams_[1]);
      return code != 0 ? code : aclrtSynchronizeEvent(event);
    };
    if (!run_.Do("record and wait", record_and_wait)) return false;
  }
  return run_.Do("aclrtResetEvent", [&] { return aclrtResetEvent(events_[1], streams_[0]); }) &&
         run_.Do("aclrtSynchronizeDevice", [] { return aclrtSynchronizeDevice(); });
}

bool OperatorFlow::CopyBack() {
  std::array<float, kElements> mask{};
  return run_.Do("the loss", [&] { return RunLoss(streams_[1]); }) && LossIsRight() &&
         run_.Do("aclrtMemcpyAsync",
                 [&] {
                   return aclrtMemcpyAsync(mask.data(), sizeof(mask), device_[3], sizeof(mask),
                                           ACL_MEMCPY_DEVICE_TO_HOST, streams_[1]);
                 }) &&
         (run_.Check("the mask", std::count(mask.begin(), mask.end(), 1.F) == kRows * kLabels),
          true);
}

void OperatorFlow::TearDown() {
  for (const aclTensor* tensor : tensors_) {
    run_.GiveBack("aclDestroyTensor", aclDestroyTensor(tensor));
  }
  run_.GiveBack("aclDestroyTensorList", aclDestroyTensorList(list_));
  if (list_ == nullptr) run_.GiveBack("aclDestroyTensor", aclDestroyTensor(listed_));
  run_.GiveBack("aclDestroyIntArray", aclDestroyIntArray(array_));
  run_.GiveBack("aclDestroyScalar", aclDestroyScalar(scalar_));
  if (buffer_ != nullptr) run_.GiveBack("aclDestroyDataBuffer", aclDestroyDataBuffer(buffer_));
  if (registered_ != nullptr) {
    run_.GiveBack("aclrtHostUnregister", aclrtHostUnregister(page_.data()));
  }
  if (pinned_ != nullptr) run_.GiveBack("aclrtFreeHost", aclrtFreeHost(pinned_));
  if (workspace_ != nullptr) run_.GiveBack("aclrtFree", aclrtFree(workspace_));
  for (aclrtEvent event : events_) {
    if (event != nullptr) run_.GiveBack("aclrtDestroyEvent", aclrtDestroyEvent(event));
  }
  // One stream, one block of memory and the context's default stream are left to aclFinalize.
  if (streams_[0] != nullptr) run_.GiveBack("aclrtDestroyStream", aclrtDestroyStream(streams_[0]));
  for (size_t i = 1; i < device_.size(); ++i) {
    if (device_[i] != nullptr) run_.GiveBack("aclrtFree", aclrtFree(device_[i]));
  }
  if (context_ != nullptr && run_.broken()) {
    run_.GiveBack("aclrtDestroyContext", aclrtDestroyContext(context_));
  }
  if (initialized_) run_.GiveBack("aclFinalize", aclFinalize());
}

}  // namespace

void RunOperatorFlow(Attempt attempt) {
  OperatorFlow flow(attempt);
  flow.Run();
  DisarmFaults();
  aclGetRecentErrMsg();  // What is pending counts as live.
}

}  // namespace mlmargin::testing
