// SPDX-License-Identifier: Apache-2.0
// The planned work of one phase 1.
#ifndef MLMARGIN_OPAPI_MULTILABEL_MARGIN_LOSS_BACKWARD_OPERATOR_H_
#define MLMARGIN_OPAPI_MULTILABEL_MARGIN_LOSS_BACKWARD_OPERATOR_H_

#include <cstdint>
#include <span>

#include "mlmargin/multilabel_margin_loss.h"
#include "nnopbase/private_api.h"
#include "opapi/multilabel_margin_loss_backward/check.h"

namespace mlmargin::opapi {

// Takes tensors that passed CheckArguments; stateless once made, so one executor may run many
// times and at once. It needs no workspace.
class MultilabelMarginLossBackwardOperator final : public nnopbase::Operator {
 public:
  MultilabelMarginLossBackwardOperator(BackwardTensors tensors, int64_t reduction);

  nnopbase::Status CheckAddresses(std::span<void* const> addresses) const override;
  nnopbase::Status Run(std::span<void* const> addresses, void* workspace) const override;

 private:
  BackwardTensors tensors_;
  LossArguments plan_;  // Complete but for the addresses.
};

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_MULTILABEL_MARGIN_LOSS_BACKWARD_OPERATOR_H_
