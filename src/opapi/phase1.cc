// SPDX-License-Identifier: Apache-2.0
#include "opapi/phase1.h"

#include <mutex>
#include <string>

#include "mlmargin/settings.h"
#include "opdev/op_errno.h"
#include "runtime/private_api.h"

namespace mlmargin::opapi {

using nnopbase::Status;

namespace {

// The kernels never print; what was wrong in their part of the environment is said here, once.
void WarnAboutSettings() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::string errors = EnvironmentErrors();
    for (size_t begin = 0, end; begin < errors.size(); begin = end + 1) {
      end = errors.find('\n', begin);
      runtime::Log(ACL_WARNING, "OP", errors.substr(begin, end - begin));
    }
  });
}

Status CheckNotNull(const char* name, const void* pointer) {
  if (pointer != nullptr) return {};
  return nnopbase::ParameterError(ACLNN_ERR_PARAM_NULLPTR,
                                  std::string(name) + ": must not be null, got null");
}

}  // namespace

Status BeginPhase1(const uint64_t* workspace_size, aclOpExecutor* const* executor,
                   std::initializer_list<TensorArgument> tensors) {
  WarnAboutSettings();
  MLMARGIN_RETURN_IF_ERROR(CheckNotNull("workspaceSize", workspace_size));
  MLMARGIN_RETURN_IF_ERROR(CheckNotNull("executor", executor));
  for (const TensorArgument& argument : tensors) {
    MLMARGIN_RETURN_IF_ERROR(CheckNotNull(argument.name, argument.handle));
  }
  for (const TensorArgument& argument : tensors) {
    MLMARGIN_RETURN_IF_ERROR(nnopbase::FindTensor(argument.handle, argument.name, argument.tensor));
  }
  return {};
}

}  // namespace mlmargin::opapi
