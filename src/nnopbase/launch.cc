// SPDX-License-Identifier: Apache-2.0
// Phase 2: from an executor to a task in a stream.
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nnopbase/errors.h"
#include "nnopbase/executor.h"

namespace mlmargin::nnopbase {
namespace {

using BlockHolder = std::shared_ptr<const runtime::Block>;

// One run of an operator. The accesses keep its memory mapped if the caller frees it too early.
class OperatorTask final : public runtime::Task {
 public:
  const char* phase2 = nullptr;
  std::shared_ptr<const Operator> op;
  std::vector<void*> addresses;       // Of the arguments, on the device.
  std::vector<void*> host_addresses;  // Where this process finds them; null where not needed.
  void* workspace = nullptr;          // As the latter.
  std::vector<runtime::Access> ranges;

  const char* api_function() const override { return phase2; }
  std::span<const runtime::Access> accesses() const override { return ranges; }

  Status Run() override {
    const Status status = op->Run(host_addresses, workspace);
    if (status.ok()) return {};
    // It is a waiting call that will report this: say whose failure it is.
    return {status.code(), status.message_code(), fmt::format("{}: {}", phase2, status.text())};
  }
};

Status CheckWorkspace(void* workspace, uint64_t workspace_bytes, uint64_t needed_bytes,
                      OperatorTask* task) {
  if (workspace == nullptr && (needed_bytes > 0 || workspace_bytes > 0)) {
    return ParameterError(
        ACLNN_ERR_PARAM_NULLPTR,
        fmt::format("workspace: must not be null when workspaceSize is not 0, got null with "
                    "workspaceSize {}; phase 1 asked for {} bytes",
                    workspace_bytes, needed_bytes));
  }
  if (needed_bytes == 0) return {};
  if (workspace_bytes < needed_bytes) {
    return Invalid("workspaceSize: must be at least the {} bytes that phase 1 asked for, got {}",
                   needed_bytes, workspace_bytes);
  }
  BlockHolder block = runtime::FindDeviceMemory(workspace, needed_bytes);
  if (block == nullptr) {
    return Invalid(
        "workspace: its {} bytes must lie in one live device allocation or registered host range, "
        "got {}",
        needed_bytes, workspace);
  }
  task->workspace = runtime::HostAddress(*block, workspace);
  task->ranges.push_back({"workspace", workspace, needed_bytes, /*writes=*/true, std::move(block)});
  return {};
}

// The bytes that a view touches must be device memory; a view without elements needs none.
Status CheckData(const Argument& argument, bool is_output, void* address, OperatorTask* task,
                 void** host_address) {
  const ByteRange range = ViewRange(*argument.tensor);
  if (range.bytes == 0) return {};
  if (address == nullptr) {
    return Invalid("{}: its data must be set before phase 2, got null", argument.name);
  }
  uintptr_t first = 0;
  BlockHolder block;
  if (!__builtin_add_overflow(reinterpret_cast<uintptr_t>(address), range.begin, &first)) {
    block = runtime::FindDeviceMemory(reinterpret_cast<const void*>(first), range.bytes);
  }
  if (block == nullptr) {
    return Invalid(
        "{}: its data must lie in one live device allocation or registered host range, got {} of "
        "which the view touches {} bytes from byte {} on; it is host memory (aclrtMalloc and "
        "aclrtMemcpy bring it to the device), freed, or too short",
        argument.name, address, range.bytes, range.begin);
  }
  *host_address = runtime::HostAddress(*block, address);
  task->ranges.push_back({argument.name, reinterpret_cast<const void*>(first), range.bytes,
                          is_output, std::move(block)});
  return {};
}

Status CheckAllData(const Executor::Plan& plan, OperatorTask* task) {
  task->host_addresses.resize(plan.arguments.size());
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    if (!plan.arguments[i].needs_data) continue;
    MLMARGIN_RETURN_IF_ERROR(CheckData(plan.arguments[i], i >= plan.num_inputs, task->addresses[i],
                                       task, &task->host_addresses[i]));
  }
  return {};
}

// Finds the executor and takes from it the addresses for one run. Needs no memory for a one-shot
// executor, so that such a one is spent whatever fails.
Status BeginExecutor(const char* function, const aclOpExecutor* handle,
                     std::vector<void*>* addresses, std::shared_ptr<Executor>* executor) {
  MLMARGIN_RETURN_IF_ERROR(CheckNotNull("executor", handle));
  *executor = Executors().Find(handle);
  if (*executor == nullptr) return DeadExecutor(handle);
  const Executor::Plan& plan = (*executor)->plan();
  // Compared by content: a literal may have several addresses.
  if (std::strcmp(plan.function, function) != 0) {
    return InnerNullError(fmt::format("executor: must come from phase 1 of {}, got that of {}",
                                      function, plan.function));
  }
  const Executor::Turn turn = (*executor)->Begin(addresses);
  if (turn == Executor::Turn::kNone) return DeadExecutor(handle);
  if (turn == Executor::Turn::kOnly) Executors().Remove(handle);
  return {};
}

}  // namespace

Status Launch(const char* function, void* workspace, uint64_t workspace_bytes,
              aclOpExecutor* handle, aclrtStream stream_handle) {
  std::vector<void*> addresses;
  std::shared_ptr<Executor> executor;
  std::shared_ptr<runtime::Stream> stream;
  MLMARGIN_RETURN_IF_ERROR(BeginExecutor(function, handle, &addresses, &executor));
  const Executor::Plan& plan = executor->plan();
  auto task = std::make_unique<OperatorTask>();
  task->phase2 = function;
  task->op = plan.op;
  task->addresses = std::move(addresses);
  task->ranges.reserve(plan.arguments.size() + 1);
  MLMARGIN_RETURN_IF_ERROR(
      CheckWorkspace(workspace, workspace_bytes, plan.workspace_bytes, task.get()));
  MLMARGIN_RETURN_IF_ERROR(runtime::FindStream(stream_handle, &stream));
  MLMARGIN_RETURN_IF_ERROR(CheckAllData(plan, task.get()));
  MLMARGIN_RETURN_IF_ERROR(plan.op->CheckAddresses(task->addresses));
  return runtime::Enqueue(*stream, std::move(task));
}

}  // namespace mlmargin::nnopbase
