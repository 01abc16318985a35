// SPDX-License-Identifier: Apache-2.0
// What is said when isolated device memory is touched where or when it must not be.
#ifndef MLMARGIN_RUNTIME_FAULT_REPORT_H_
#define MLMARGIN_RUNTIME_FAULT_REPORT_H_

#include "runtime/private_api.h"
#include "runtime/status.h"

namespace mlmargin::runtime {

// From now on a segmentation fault at a device address, or right beside the bytes of a device
// allocation, leaves a line on standard error that names both; then it goes its way: to the
// handler that was there before, or to the end of the process.
void InstallFaultReport();

// Runs a task of an isolated device. Its arguments are named if it runs over the end of their
// memory. 507053 with the argument's name when that memory was freed before the task was done: not
// run, if it was freed before.
Status RunWatched(Task& task);

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_FAULT_REPORT_H_
