// SPDX-License-Identifier: Apache-2.0
// The call of the kernel, under the setting of the label check.
#ifndef MLMARGIN_OPAPI_RUN_KERNEL_H_
#define MLMARGIN_OPAPI_RUN_KERNEL_H_

#include "mlmargin/multilabel_margin_loss.h"
#include "nnopbase/private_api.h"

namespace mlmargin::opapi {

// How an operator speaks of itself; string literals.
struct OperatorNames {
  const char* function;     // Of phase 2.
  const char* not_written;  // What a refusal leaves untouched: "gradInput was not written".
};

// Computes `call`, and logs or refuses bad labels as MLMARGIN_LABEL_CHECK says. The status is the
// one that the stream reports: 507035 for refused labels, 207001 when out of memory.
nnopbase::Status RunKernel(const OperatorNames& names, LossArguments call);

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_RUN_KERNEL_H_
