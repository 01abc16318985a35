// SPDX-License-Identifier: Apache-2.0
// The options of the process (aclSysParamOpt); those of a context are in context.h.
#ifndef MLMARGIN_RUNTIME_SYS_PARAM_H_
#define MLMARGIN_RUNTIME_SYS_PARAM_H_

#include <cstdint>

#include "acl/acl_rt.h"

namespace mlmargin::runtime {

// Both take a checked option. The value is 0 if it was never set.
void SetProcessOption(aclSysParamOpt option, int64_t value);
int64_t ProcessOption(aclSysParamOpt option);

// All back to 0; part of the last finalize.
void ResetProcessOptions();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_SYS_PARAM_H_
