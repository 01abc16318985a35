// SPDX-License-Identifier: Apache-2.0
// What a call costs when there is nothing to compute.
#ifndef BENCH_SMALL_CALL_H_
#define BENCH_SMALL_CALL_H_

#include <optional>

#include "pytorch.h"

namespace mlmargin::bench {

struct SmallCallTimes {
  double seconds = 0;  // The minimum over the turns.
  double median_seconds = 0;
  std::optional<PyTorch::SmallCall> pytorch;  // The minima.
};

// One aclnn call on 2 x 3 as a program makes it, with phase 1, phase 2 and the wait for the stream,
// one thread; in turns with PyTorch's, where `pytorch` is not null. Means of many calls a turn.
SmallCallTimes MeasureSmallCall(PyTorch* pytorch, int turns);

}  // namespace mlmargin::bench

#endif  // BENCH_SMALL_CALL_H_
