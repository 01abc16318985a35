// SPDX-License-Identifier: Apache-2.0
// Makes allocations and thread creations of the libraries fail, one by one, and counts what is
// allocated. It stands in for operator new, malloc and their kin, and pthread_create.
//
// Never made to fail: what this program itself asks for; what oneTBB asks for, which ends the
// process when a worker cannot start; and what the C library asks for on its own behalf.
//
// The address sanitizer brings its own malloc: there operator new and pthread_create alone fail.
// The thread sanitizer brings them all: nothing fails.
#ifndef MLMARGIN_TESTS_FAULTS_FAULT_INJECTOR_H_
#define MLMARGIN_TESTS_FAULTS_FAULT_INJECTOR_H_

#include <cstdint>
#include <string>

namespace mlmargin::testing {

enum class FaultMode {
  kOnce,       // The n-th request fails.
  kFromThenOn  // The n-th request fails, and all that follow.
};

// From now on the requests of all threads are counted, and the `nth` (from 1) is made to fail.
void ArmFaults(FaultMode mode, int64_t nth);
// How many failed since then, or up to the end if it is over. No allocation.
int64_t FaultsInjected();
void DisarmFaults();

// Where the first of them was asked for: "libascendcl.so+0x1234", for addr2line.
std::string FaultSite();

// Blocks allocated and not freed, but for those of oneTBB and the C library.
int64_t LiveBlocks();

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_FAULTS_FAULT_INJECTOR_H_
