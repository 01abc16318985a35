// SPDX-License-Identifier: Apache-2.0
// The log line about labels that a call skipped.
#ifndef MLMARGIN_OPAPI_LABEL_WARNING_H_
#define MLMARGIN_OPAPI_LABEL_WARNING_H_

#include <cstdint>

#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::opapi {

// Logs one warning for the n-th call of `function` that skipped labels: for the first 10 such calls
// and then at each doubling of their number, so that a training loop is not flooded. Thread-safe.
void WarnAboutLabels(const char* function, uint64_t nth_call, const BadLabels& bad_labels,
                     int64_t classes);

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_LABEL_WARNING_H_
