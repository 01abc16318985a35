// SPDX-License-Identifier: Apache-2.0
// The store behind Report (private_api.h): unread texts, and each thread's last error.
#ifndef MLMARGIN_RUNTIME_ERROR_REPORT_H_
#define MLMARGIN_RUNTIME_ERROR_REPORT_H_

#include <cstdint>

namespace mlmargin::runtime {

// Whose texts aclGetRecentErrMsg returns: the calling thread's, or those of the whole process.
enum class MessageScope { kThread, kProcess };
void SetMessageScope(MessageScope scope);

// The unread texts of the scope in one, newest first, which are then forgotten; null if there
// are none. Valid until the calling thread's next call.
const char* TakeRecentMessages();

// The calling thread's last error.
int32_t LastError();
void ClearLastError();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_ERROR_REPORT_H_
