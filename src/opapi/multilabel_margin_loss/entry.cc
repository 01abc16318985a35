// SPDX-License-Identifier: Apache-2.0
// The two C functions: check, plan, executor; and launch.
#include <memory>

#include "aclnnop/aclnn_multilabel_margin_loss.h"
#include "nnopbase/private_api.h"
#include "opapi/multilabel_margin_loss/check.h"
#include "opapi/multilabel_margin_loss/operator.h"
#include "opapi/phase1.h"
#include "runtime/api_call.h"

namespace mlmargin::opapi {
namespace {

using nnopbase::Status;
using runtime::ApiCall;
using runtime::ApiFamily;

constexpr char kPhase1[] = "aclnnMultilabelMarginLossGetWorkspaceSize";
constexpr char kPhase2[] = "aclnnMultilabelMarginLoss";

Status Phase1(const aclTensor* self, const aclTensor* target, int64_t reduction,
              const aclTensor* out, const aclTensor* is_target, uint64_t* workspace_size,
              aclOpExecutor** executor) {
  LossTensors tensors;
  MLMARGIN_RETURN_IF_ERROR(BeginPhase1(workspace_size, executor,
                                       {{"self", self, &tensors.self},
                                        {"target", target, &tensors.target},
                                        {"out", out, &tensors.out},
                                        {"isTarget", is_target, &tensors.is_target}}));
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
