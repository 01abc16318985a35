// SPDX-License-Identifier: Apache-2.0
// What may be wrong with the arguments of a call. Each failure is a kInvalidArgument that names the
// argument, what was expected and what came.
#ifndef MLMARGIN_KERNEL_CHECK_ARGUMENTS_H_
#define MLMARGIN_KERNEL_CHECK_ARGUMENTS_H_

#include <string>

#include "mlmargin/multilabel_margin_loss.h"
#include "mlmargin/sharded_loss.h"
#include "mlmargin/status.h"

namespace mlmargin::kernel {

Status InvalidArgument(const char* argument, const char* expected, const std::string& got);

// Sizes, data that must be there, label offsets.
Status CheckArguments(const LossArguments& args);
Status CheckShard(const ShardArguments& args);

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_CHECK_ARGUMENTS_H_
