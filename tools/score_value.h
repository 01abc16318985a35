// SPDX-License-Identifier: Apache-2.0
#ifndef TOOLS_SCORE_VALUE_H_
#define TOOLS_SCORE_VALUE_H_

#include <cstddef>

#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::tools {

// The number at `from`: of any score, loss or gradient. Exact.
double ScoreValue(ScoreType type, const std::byte* from);

}  // namespace mlmargin::tools

#endif  // TOOLS_SCORE_VALUE_H_
