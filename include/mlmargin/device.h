// SPDX-License-Identifier: Apache-2.0
// The devices of libascendcl.so, for programs that prefer a call to an environment variable. Each
// call beats its variable and stays for the life of the process or until the next call; it is to
// be made before aclInit and aclnnInit, or after the last finalize. Any thread; does not block.
//
// The functions that return bool return false and change nothing when the runtime is initialised,
// or the argument is out of range; aclGetRecentErrMsg() then says which.
#ifndef MLMARGIN_DEVICE_H_
#define MLMARGIN_DEVICE_H_

#include <cstdint>

namespace mlmargin {

// MLMARGIN_DEVICE_COUNT: shows `count` devices (1 .. 64). All are the host's CPUs and share its
// memory; more than one is for testing code that expects several. ASCEND_RT_VISIBLE_DEVICES still
// chooses among them.
[[nodiscard, gnu::visibility("default")]] bool SetDeviceCount(int count);

// Of what kind device memory is. kShared, the default, is ordinary memory, which the host may
// touch. kIsolated is out of the host's reach, as that of a real device: a host's own access to it
// is a segmentation fault with a line that names the address and the allocation, and work that is
// queued fails when its memory is freed before it is done. Copies and operators work as ever.
enum class DeviceMemory { kShared, kIsolated };
// MLMARGIN_DEVICE_MEMORY.
[[nodiscard, gnu::visibility("default")]] bool SetDeviceMemory(DeviceMemory memory);

// MLMARGIN_RACE_CHECK: looks for copies and fills on the host that do not wait for work of a stream
// on the same memory, of which one writes. Each is an error in the log with both places.
[[nodiscard, gnu::visibility("default")]] bool SetRaceCheck(bool on);

// How many of these there were in this process.
[[gnu::visibility("default")]] uint64_t NumRaces();

}  // namespace mlmargin

#endif  // MLMARGIN_DEVICE_H_
