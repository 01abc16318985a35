// SPDX-License-Identifier: Apache-2.0
// The call of the kernel, under the setting of the label check.
#ifndef MLMARGIN_OPAPI_RUN_KERNEL_H_
#define MLMARGIN_OPAPI_RUN_KERNEL_H_

#include <atomic>
#include <cstdint>

#include "mlmargin/multilabel_margin_loss.h"
#include "nnopbase/private_api.h"

namespace mlmargin::opapi {

// What the label check says of an operator, and how often; one for each operator.
struct LabelReport {
  const char* function;     // Of phase 2; a string literal, like the next.
  const char* not_written;  // What a refusal leaves untouched: "gradInput was not written".
  std::atomic<uint64_t> calls_with_bad_labels = 0;
};

// Computes `call`, and logs or refuses bad labels as MLMARGIN_LABEL_CHECK says. The status is the
// one that the stream reports: 507035 for refused labels, 207001 when out of memory. Thread-safe.
nnopbase::Status RunKernel(LossArguments call, LabelReport* report);

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_RUN_KERNEL_H_
