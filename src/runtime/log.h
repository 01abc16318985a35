// SPDX-License-Identifier: Apache-2.0
// The writer behind Log (private_api.h).
#ifndef MLMARGIN_RUNTIME_LOG_H_
#define MLMARGIN_RUNTIME_LOG_H_

#include "acl/acl_base.h"

namespace mlmargin::runtime {

// Whether a line of that level and module would be written.
bool LogEnabled(aclLogLevel level, const char* module) noexcept;

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_LOG_H_
