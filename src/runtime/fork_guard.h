// SPDX-License-Identifier: Apache-2.0
// Children of fork(): they lack the parent's threads and may hold its locks, so they are turned
// away. See InForkedChild and ReportForkedChild in private_api.h.
#ifndef MLMARGIN_RUNTIME_FORK_GUARD_H_
#define MLMARGIN_RUNTIME_FORK_GUARD_H_

namespace mlmargin::runtime {

// From now on children of this process are marked; called by every init, works once.
void InstallForkGuard();

// What aclGetRecentErrMsg answers in such a child. No lock, no allocation.
const char* ForkedChildMessage() noexcept;

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_FORK_GUARD_H_
