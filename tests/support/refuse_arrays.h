// SPDX-License-Identifier: Apache-2.0
// Makes large arrays be refused: the operator new[] of a program without sanitizers, which bring
// allocators of their own. For one source of the program.
#ifndef MLMARGIN_TESTS_SUPPORT_REFUSE_ARRAYS_H_
#define MLMARGIN_TESTS_SUPPORT_REFUSE_ARRAYS_H_

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
// Large arrays are refused while this is set.
std::atomic<bool> refuse_large_arrays = false;
}  // namespace

void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  if (refuse_large_arrays && bytes > 1024) return nullptr;
  return std::malloc(bytes);
}
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void* operator new[](size_t bytes) {
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

#endif  // MLMARGIN_TESTS_SUPPORT_REFUSE_ARRAYS_H_
