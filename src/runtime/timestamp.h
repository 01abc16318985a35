// SPDX-License-Identifier: Apache-2.0
// Points in time as the log and the error texts write them.
#ifndef MLMARGIN_RUNTIME_TIMESTAMP_H_
#define MLMARGIN_RUNTIME_TIMESTAMP_H_

#include <string>

namespace mlmargin::runtime {

// Now in local time: "2026-11-30-07:05:09.123.456".
std::string LocalTimestamp();

// Now in UTC, without a lock or an allocation, for use after fork. `size` 28 or more.
void UtcTimestamp(char* text, size_t size);

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_TIMESTAMP_H_
