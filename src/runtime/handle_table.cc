// SPDX-License-Identifier: Apache-2.0
#include "runtime/handle_table.h"

#include <atomic>

namespace mlmargin::runtime {

void* NewHandle() noexcept {
  // Not canonical on x86-64 and outside the user half on aarch64: dereferencing it faults. The
  // low four bits are zero, as in a pointer from an allocator.
  constexpr uintptr_t kBase = 0xAC00'0000'0000'0000;
  static std::atomic<uintptr_t> counter = 0;
  const uintptr_t number = counter.fetch_add(1, std::memory_order_relaxed) + 1;
  return reinterpret_cast<void*>(kBase | (number << 4));
}

}  // namespace mlmargin::runtime
