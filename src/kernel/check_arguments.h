// SPDX-License-Identifier: Apache-2.0
// The border of the library: what may be wrong with the arguments of a call, and that no exception
// leaves it. Each failure of a check is a kInvalidArgument that names the
// argument, what was expected and what came.
#ifndef MLMARGIN_KERNEL_CHECK_ARGUMENTS_H_
#define MLMARGIN_KERNEL_CHECK_ARGUMENTS_H_

#include <string>

#include "mlmargin/multilabel_margin_loss.h"
#include "mlmargin/sharded_loss.h"
#include "mlmargin/status.h"

namespace mlmargin::kernel {

Status InvalidArgument(const char* argument, const char* expected, const std::string& got);

// That data is there, where it is needed.
Status CheckData(const char* argument, const void* data, bool needed = true);

Status CheckScoreType(ScoreType type);
Status CheckReduction(Reduction reduction);

// Sizes, types, data that must be there, label offsets.
Status CheckArguments(const LossArguments& args);
Status CheckShard(const ShardArguments& args);

// Errors are values: what a call's body throws is that memory (for the list of ranges, the thread
// pool, words) or a thread could not be had. The words fit a string without memory.
template <class Body>
Status Guarded(const Body& body) {
  try {
    return body();
  } catch (...) {
    return {StatusCode::kOutOfMemory, "no memory"};
  }
}

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_CHECK_ARGUMENTS_H_
