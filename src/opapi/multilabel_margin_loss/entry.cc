// SPDX-License-Identifier: Apache-2.0
// The two C functions: check, plan, executor; and launch.
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "aclnnop/aclnn_multilabel_margin_loss.h"
#include "mlmargin/settings.h"
#include "nnopbase/private_api.h"
#include "opapi/multilabel_margin_loss/check.h"
#include "opapi/multilabel_margin_loss/operator.h"
#include "opdev/op_errno.h"
#include "runtime/api_call.h"

namespace mlmargin::opapi {
namespace {

using nnopbase::Status;
using runtime::ApiCall;
using runtime::ApiFamily;

constexpr char kPhase1[] = "aclnnMultilabelMarginLossGetWorkspaceSize";
constexpr char kPhase2[] = "aclnnMultilabelMarginLoss";

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

// All null pointers come before anything that a live pointer may be guilty of.
Status CheckNotNull(std::initializer_list<std::pair<const char*, const void*>> arguments) {
  for (const auto& [name, pointer] : arguments) {
    if (pointer != nullptr) continue;
    return nnopbase::ParameterError(ACLNN_ERR_PARAM_NULLPTR,
                                    std::string(name) + ": must not be null, got null");
  }
  return {};
}

Status Phase1(const aclTensor* self, const aclTensor* target, int64_t reduction,
              const aclTensor* out, const aclTensor* is_target, uint64_t* workspace_size,
              aclOpExecutor** executor) {
  WarnAboutSettings();
  MLMARGIN_RETURN_IF_ERROR(CheckNotNull({{"workspaceSize", workspace_size},
                                         {"executor", executor},
                                         {"self", self},
                                         {"target", target},
                                         {"out", out},
                                         {"isTarget", is_target}}));
  LossTensors tensors;
  MLMARGIN_RETURN_IF_ERROR(nnopbase::FindTensor(self, "self", &tensors.self));
  MLMARGIN_RETURN_IF_ERROR(nnopbase::FindTensor(target, "target", &tensors.target));
  MLMARGIN_RETURN_IF_ERROR(nnopbase::FindTensor(out, "out", &tensors.out));
  MLMARGIN_RETURN_IF_ERROR(nnopbase::FindTensor(is_target, "isTarget", &tensors.is_target));
  MLMARGIN_RETURN_IF_ERROR(CheckArguments(tensors, reduction));
  const auto op = std::make_shared<MultilabelMarginLossOperator>(tensors, reduction);
  MLMARGIN_RETURN_IF_ERROR(
      nnopbase::CreateExecutor(kPhase2, {{"self", tensors.self}, {"target", tensors.target}},
                               {{"out", tensors.out}, {"isTarget", tensors.is_target}},
                               op->workspace_bytes(), op, executor));
  *workspace_size = op->workspace_bytes();
  return {};
}

}  // namespace
}  // namespace mlmargin::opapi

aclnnStatus aclnnMultilabelMarginLossGetWorkspaceSize(const aclTensor* self,
                                                      const aclTensor* target, int64_t reduction,
                                                      aclTensor* out, aclTensor* isTarget,
                                                      uint64_t* workspaceSize,
                                                      aclOpExecutor** executor) {
  using namespace mlmargin::opapi;
  // Set before anything can fail, so that no failure leaves an executor to run.
  if (executor != nullptr) *executor = nullptr;
  return ApiCall(
      kPhase1,
      [&] { return Phase1(self, target, reduction, out, isTarget, workspaceSize, executor); },
      ApiFamily::kAclnn);
}

aclnnStatus aclnnMultilabelMarginLoss(void* workspace, uint64_t workspaceSize,
                                      aclOpExecutor* executor, aclrtStream stream) {
  using namespace mlmargin::opapi;
  return ApiCall(
      kPhase2,
      [&] {
        return mlmargin::nnopbase::Launch(kPhase2, workspace, workspaceSize, executor, stream);
      },
      ApiFamily::kAclnn);
}
