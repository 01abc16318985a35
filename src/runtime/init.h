// SPDX-License-Identifier: Apache-2.0
// Beginning and end of the runtime; aclnn's pair (InitAclnn, FinalizeAclnn) is in private_api.h.
#ifndef MLMARGIN_RUNTIME_INIT_H_
#define MLMARGIN_RUNTIME_INIT_H_

#include <cstdint>

#include "runtime/status.h"

namespace mlmargin::runtime {

// Counts one. 100002 from the second call on; 100000 when, after a finalize, the configuration
// differs from that of the first init.
Status Init(const char* config_path);

// Sets the count to 0 and, unless aclnn still runs, releases everything. 100037 at count 0.
Status Finalize();

// Takes one from the count, then as Finalize if that gives 0.
Status FinalizeReference(uint64_t* new_count);

// Between the first of aclInit and aclnnInit and the last finalize.
bool IsInitialized();

// 100002 then: for settings that hold from one init to the next.
Status CheckNotInitialized();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_INIT_H_
