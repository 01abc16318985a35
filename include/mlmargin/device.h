// SPDX-License-Identifier: Apache-2.0
// The number of devices that libascendcl.so shows, for programs that prefer a call to the
// environment variable MLMARGIN_DEVICE_COUNT.
#ifndef MLMARGIN_DEVICE_H_
#define MLMARGIN_DEVICE_H_

namespace mlmargin {

// Shows `count` devices (1 .. 64) from now on; to be called before aclInit and aclnnInit. Beats
// MLMARGIN_DEVICE_COUNT and stays for the life of the process or until the next call. All devices
// are the host's CPUs and share its memory; more than one is for testing code that expects
// several. ASCEND_RT_VISIBLE_DEVICES still chooses among them.
//
// Returns false and changes nothing when `count` is out of range or the runtime is initialised;
// aclGetRecentErrMsg() then says which. Any thread; does not block.
[[nodiscard, gnu::visibility("default")]] bool SetDeviceCount(int count);

}  // namespace mlmargin

#endif  // MLMARGIN_DEVICE_H_
