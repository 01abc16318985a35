// SPDX-License-Identifier: Apache-2.0
// For fault_report_test.cc and race_check_test.cc: a library that waits for the device while it is
// being loaded.
#include <unistd.h>

#include "acl/acl.h"

namespace {

__attribute__((constructor)) void WaitForTheDevice() {
  usleep(100000);  // Other threads come to where they need the loader's lock, and stay there.
  aclrtSetDevice(0);
  aclrtSynchronizeDevice();
}

}  // namespace
