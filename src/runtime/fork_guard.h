// SPDX-License-Identifier: Apache-2.0
// Children of fork(): they lack the parent's threads and may hold its locks, so they are turned
// away. See InForkedChild and ReportForkedChild in private_api.h.
#ifndef MLMARGIN_RUNTIME_FORK_GUARD_H_
#define MLMARGIN_RUNTIME_FORK_GUARD_H_

namespace mlmargin::runtime {

// What every init does first, under its lock: from there on EnableForkGuard cannot fail. Throws
// std::bad_alloc.
void PrepareForkGuard();

// From now on children of this process are marked.
void EnableForkGuard() noexcept;

// What aclGetRecentErrMsg answers in such a child. No lock, no allocation.
const char* ForkedChildMessage() noexcept;

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_FORK_GUARD_H_
