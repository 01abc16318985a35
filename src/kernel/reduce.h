// SPDX-License-Identifier: Apache-2.0
// From the sums of rows to the loss. The order of additions is part of the results' bits.
#ifndef MLMARGIN_KERNEL_REDUCE_H_
#define MLMARGIN_KERNEL_REDUCE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernel/element.h"
#include "kernel/float_environment.h"
#include "kernel/row_sum.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::kernel {

// The loss of kMean, which divides by `mean_rows`, or of kSum, from `rows` > 0 saved row sums: adds
// them in order, in runs of 4,096, so that the error does not grow with their number.
template <class Sum>
void StoreReduced(const double* row_sums, int64_t rows, int64_t mean_rows, int64_t classes,
                  Reduction reduction, ScoreType type, void* loss) {
  constexpr int64_t kRun = 4096;
  const DefaultFloatEnvironment environment;
  Sum total;
  for (int64_t run = 0; run < rows; run += kRun) {
    Sum run_sum;
    for (int64_t n = run; n < std::min(run + kRun, rows); ++n) {
      run_sum += Sum::Load(row_sums + n * Sum::kDoubles);
    }
    total += run_sum;
  }
  double divisor = static_cast<double>(classes);
  if (reduction == Reduction::kMean) divisor *= static_cast<double>(mean_rows);
  StoreLoss(total.DividedBy(divisor), type, loss);
}

// The loss of no rows: nothing for kNone, else an empty sum, divided by `mean_rows` for the mean.
inline void StoreEmpty(Reduction reduction, int64_t mean_rows, ScoreType type, void* loss) {
  if (reduction == Reduction::kNone) return;
  const bool undefined = reduction == Reduction::kMean && mean_rows == 0;
  StoreLoss(undefined ? std::numeric_limits<double>::quiet_NaN() : 0.0, type, loss);
}

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_REDUCE_H_
