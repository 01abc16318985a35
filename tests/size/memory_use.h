// SPDX-License-Identifier: Apache-2.0
// How much memory a call takes beyond its tensors.
#ifndef MLMARGIN_TESTS_SIZE_MEMORY_USE_H_
#define MLMARGIN_TESTS_SIZE_MEMORY_USE_H_

#include <cstdint>

namespace mlmargin::testing {

// Peaks since the object was made.
class MemoryUse {
 public:
  MemoryUse();
  // Of what operator new gave out; of every thread.
  int64_t HeapBytes() const;
  // Of the resident memory, whoever asked for it; -1 where the kernel does not tell. Pages of the
  // tensors must have been touched before.
  int64_t ResidentBytes() const;

 private:
  int64_t heap_before_;
  int64_t resident_before_;
};

// What the system could give without swapping.
int64_t AvailableBytes();

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_SIZE_MEMORY_USE_H_
