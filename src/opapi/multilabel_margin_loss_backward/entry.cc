// SPDX-License-Identifier: Apache-2.0
// The two C functions: check, plan, executor; and launch.
#include <memory>

#include "aclnnop/aclnn_multilabel_margin_loss_backward.h"
#include "nnopbase/private_api.h"
#include "opapi/multilabel_margin_loss_backward/check.h"
#include "opapi/multilabel_margin_loss_backward/operator.h"
#include "opapi/phase1.h"
#include "runtime/api_call.h"

namespace mlmargin::opapi {
namespace {

using nnopbase::Status;
using runtime::ApiCall;
using runtime::ApiFamily;

constexpr char kPhase1[] = "aclnnMultilabelMarginLossBackwardGetWorkspaceSize";
constexpr char kPhase2[] = "aclnnMultilabelMarginLossBackward";

Status Phase1(const aclTensor* grad_output, const aclTensor* self, const aclTensor* target,
              int64_t reduction, const aclTensor* is_target, const aclTensor* grad_input,
              uint64_t* workspace_size, aclOpExecutor** executor) {
  BackwardTensors tensors;
  MLMARGIN_RETURN_IF_ERROR(BeginPhase1(workspace_size, executor,
                                       {{"gradOutput", grad_output, &tensors.grad_output},
                                        {"self", self, &tensors.self},
                                        {"target", target, &tensors.target},
                                        {"isTarget", is_target, &tensors.is_target},
                                        {"gradInput", grad_input, &tensors.grad_input}}));
  MLMARGIN_RETURN_IF_ERROR(CheckArguments(tensors, reduction));
  MLMARGIN_RETURN_IF_ERROR(nnopbase::CreateExecutor(
      kPhase2,
      {{"gradOutput", tensors.grad_output},
       {"self", tensors.self},
       {"target", tensors.target},
       {"isTarget", tensors.is_target, /*needs_data=*/false}},
      {{"gradInput", tensors.grad_input}}, /*workspace_bytes=*/0,
      std::make_shared<MultilabelMarginLossBackwardOperator>(tensors, reduction), executor));
  *workspace_size = 0;
  return {};
}

}  // namespace
}  // namespace mlmargin::opapi

aclnnStatus aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclTensor* target, int64_t reduction,
    const aclTensor* isTarget, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  using namespace mlmargin::opapi;
  // Set before anything can fail, so that no failure leaves an executor to run.
  if (executor != nullptr) *executor = nullptr;
  return ApiCall(
      kPhase1,
      [&] {
        return Phase1(gradOutput, self, target, reduction, isTarget, gradInput, workspaceSize,
                      executor);
      },
      ApiFamily::kAclnn);
}

aclnnStatus aclnnMultilabelMarginLossBackward(void* workspace, uint64_t workspaceSize,
                                              aclOpExecutor* executor, aclrtStream stream) {
  using namespace mlmargin::opapi;
  return ApiCall(
      kPhase2,
      [&] {
        return mlmargin::nnopbase::Launch(kPhase2, workspace, workspaceSize, executor, stream);
      },
      ApiFamily::kAclnn);
}
