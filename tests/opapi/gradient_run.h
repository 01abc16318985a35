// SPDX-License-Identifier: Apache-2.0
// One call of the gradient's operator through its C API, as a user makes it.
#ifndef MLMARGIN_TESTS_OPAPI_GRADIENT_RUN_H_
#define MLMARGIN_TESTS_OPAPI_GRADIENT_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "aclnnop/aclnn_multilabel_margin_loss_backward.h"
#include "opapi/loss_run.h"
#include "support/exact_gradient.h"

namespace mlmargin::testing {

// Everything about a call but its values; what is said of out holds for gradOutput.
struct GradientShape : CallShape {
  ViewKind grad_input_view = ViewKind::kContiguous;
};

// As many elements as gradOutput has, of both signs.
std::vector<uint32_t> MakeGradOutputs(const Batch& batch, const CallShape& shape, uint64_t seed);

// The five tensors of a call, filled from a batch. isTarget is full of what nobody may read.
struct GradientTensors {
  GradientTensors(const Batch& batch, const std::vector<uint32_t>& grad_outputs,
                  const GradientShape& shape);

  std::unique_ptr<DeviceTensor> grad_output, self, target, is_target, grad_input;

  // Inputs unchanged, and gradInput too outside its view.
  bool NothingElseWritten() const { return InputsUntouched() && grad_input->GuardsIntact(); }
  bool NothingWritten() const { return InputsUntouched() && grad_input->Untouched(); }

 private:
  bool InputsUntouched() const {
    return grad_output->Untouched() && self->Untouched() && target->Untouched() &&
           is_target->Untouched();
  }
};

// Phase 1 with these tensors.
Planned Plan(const GradientTensors& tensors, int64_t reduction);

// Both phases and the wait; every status must be 0 and nothing but the view of gradInput may be
// written. The gradient is row-major.
std::vector<uint32_t> RunGradient(const Batch& batch, const std::vector<uint32_t>& grad_outputs,
                                  const GradientShape& shape);

// Compares with the oracle: within 1 ulp, where a zero may have either sign.
void ExpectGradient(const Batch& batch, const std::vector<ExactValue>& exact,
                    const std::vector<uint32_t>& gradient, const std::string& what);

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_OPAPI_GRADIENT_RUN_H_
