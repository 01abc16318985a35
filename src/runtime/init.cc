// SPDX-License-Identifier: Apache-2.0
#include "runtime/init.h"

#include <fmt/core.h>

#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "acl/acl.h"
#include "environment/unknown_variables.h"
#include "runtime/config.h"
#include "runtime/context.h"
#include "runtime/debug_settings.h"
#include "runtime/device.h"
#include "runtime/fork_guard.h"
#include "runtime/never_destroyed.h"
#include "runtime/private_api.h"
#include "runtime/settings.h"
#include "runtime/sys_param.h"

namespace mlmargin::runtime {
namespace {

struct InitState {
  std::mutex mutex;
  uint64_t acl_count = 0;
  bool aclnn = false;
  std::optional<std::string> first_config;  // Canonical text.
  std::atomic<bool> initialized = false;    // acl_count > 0 || aclnn
};

InitState& State() {
  static NeverDestroyed<InitState> state;
  return state.get();
}

// What the first reason to run sets up. Called with the lock held.
void Start(InitState& state) {
  if (state.initialized.load(std::memory_order_relaxed)) return;
  environment::NameUnknownVariables();
  ReadDeviceSettings();
  ReadDebugSettings();
}

// What the last reason to run leaves behind. Called with the lock held; the caller destroys the
// result after unlocking, which waits for the work in the streams.
DeviceRemains StopIfUnused(InitState& state) {
  if (state.acl_count > 0 || state.aclnn) return {};
  state.initialized.store(false, std::memory_order_release);
  ResetProcessOptions();
  OpExecuteTimeoutSeconds() = 0;
  OpWaitTimeoutSeconds() = 0;
  return TakeAllDevices();
}

void ApplyDebugKernel(const Config& config) {
  if (config.enable_debug_kernel) SetProcessOption(ACL_OPT_ENABLE_DEBUG_KERNEL, 1);
}

void WarnOfAclInitKeys(const Config& config) {
  if (!config.default_device && config.message_scope == MessageScope::kThread) return;
  Log(ACL_WARNING, "ASCENDCL",
      "keys defaultDevice and err_msg_mode in the file of configPath have an effect in aclInit "
      "only, "
      "not in aclnnInit.");
}

Status CheckSameConfig(const InitState& state, const Config& config) {
  if (!state.first_config || *state.first_config == config.canonical_text) return {};
  return Status(ACL_ERROR_INVALID_PARAM, "EH0012",
                fmt::format("argument configPath: the file says {}, but the first aclInit of this "
                            "process had {}; expected the same configuration.",
                            config.canonical_text, *state.first_config));
}

// Out of memory is a value here. The text fits a string without any.
Status SetDefaultDevice(int32_t device_id) {
  try {
    return SetDevice(device_id);
  } catch (const std::bad_alloc&) {
    return Status(ACL_ERROR_BAD_ALLOC, "EH0010", "no host memory");
  }
}

Status FirstInit(InitState& state, const char* config_path) {
  Config config;
  MLMARGIN_RETURN_IF_ERROR(ReadConfig(config_path, &config));
  MLMARGIN_RETURN_IF_ERROR(CheckSameConfig(state, config));
  Start(state);
  PrepareForkGuard();
  if (config.default_device) MLMARGIN_RETURN_IF_ERROR(CheckDeviceId(*config.default_device));
  state.acl_count = 1;
  state.initialized.store(true, std::memory_order_release);
  if (config.default_device) {
    Status status = SetDefaultDevice(*config.default_device);
    if (!status.ok()) {  // As if nothing had been called.
      state.acl_count = 0;
      state.initialized.store(state.aclnn, std::memory_order_release);
      return status;
    }
  }
  EnableForkGuard();
  SetMessageScope(config.message_scope);
  ApplyDebugKernel(config);
  state.first_config = std::move(config.canonical_text);
  return {};
}

Status NothingToFinalize(const char* init) {
  return Status(ACL_ERROR_REPEAT_FINALIZE, "EE1018",
                fmt::format("nothing to finalise: {} was not called, or everything was finalised "
                            "already.",
                            init));
}

}  // namespace

bool IsInitialized() { return State().initialized.load(std::memory_order_acquire); }

Status CheckInitialized() {
  if (IsInitialized()) return {};
  return Status(ACL_ERROR_UNINITIALIZE, "EE1018",
                "the runtime is not initialised; call aclInit first.");
}

Status CheckNotInitialized() {
  if (!IsInitialized()) return {};
  return Status(ACL_ERROR_REPEAT_INITIALIZE, "EE1018",
                "the runtime is initialised; call it before aclInit or after aclFinalize.");
}

Status Init(const char* config_path) {
  InitState& state = State();
  const std::lock_guard lock(state.mutex);
  if (state.acl_count == 0) return FirstInit(state, config_path);
  Status status(ACL_ERROR_REPEAT_INITIALIZE, "EE1018",
                fmt::format("aclInit was called already ({} times); the call is counted and its "
                            "configuration not looked at.",
                            state.acl_count));
  ++state.acl_count;  // Last, since without memory for the words nothing is counted.
  return status;
}

Status Finalize() {
  InitState& state = State();
  DeviceRemains remains;
  const std::lock_guard lock(state.mutex);
  if (state.acl_count == 0) return NothingToFinalize("aclInit");
  state.acl_count = 0;
  remains = StopIfUnused(state);
  return {};
}

Status FinalizeReference(uint64_t* new_count) {
  InitState& state = State();
  DeviceRemains remains;
  const std::lock_guard lock(state.mutex);
  if (state.acl_count == 0) return NothingToFinalize("aclInit");
  *new_count = --state.acl_count;
  remains = StopIfUnused(state);
  return {};
}

Status InitAclnn(const char* config_path) {
  InitState& state = State();
  const std::lock_guard lock(state.mutex);
  if (state.aclnn) {
    return Status(ACL_ERROR_REPEAT_INITIALIZE, "EE1018", "aclnnInit was called already.");
  }
  Config config;
  MLMARGIN_RETURN_IF_ERROR(ReadConfig(config_path, &config));
  WarnOfAclInitKeys(config);
  Start(state);
  PrepareForkGuard();
  EnableForkGuard();
  ApplyDebugKernel(config);
  state.aclnn = true;
  state.initialized.store(true, std::memory_order_release);
  return {};
}

Status FinalizeAclnn() {
  InitState& state = State();
  DeviceRemains remains;
  const std::lock_guard lock(state.mutex);
  if (!state.aclnn) return NothingToFinalize("aclnnInit");
  state.aclnn = false;
  remains = StopIfUnused(state);
  return {};
}

}  // namespace mlmargin::runtime
