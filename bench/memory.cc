// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <features.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BENCH_SANITIZED
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(BENCH_SANITIZED)
#define BENCH_COUNT_MALLOC
#endif

#ifndef BENCH_COUNT_MALLOC

namespace mlmargin::bench {

std::optional<int64_t> PeakExtraBytes(const std::function<void()>&) { return std::nullopt; }

}  // namespace mlmargin::bench

#else

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {

std::atomic<bool> counting = false;
std::atomic<int64_t> live_bytes = 0;
std::atomic<int64_t> peak_bytes = 0;

void* Allocated(void* block) {
  if (!counting.load(std::memory_order_relaxed) || block == nullptr) return block;
  const auto size = static_cast<int64_t>(malloc_usable_size(block));
  const int64_t live = live_bytes += size;
  int64_t peak = peak_bytes;
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
  return block;
}

void Freed(void* block) {
  if (!counting.load(std::memory_order_relaxed) || block == nullptr) return;
  live_bytes -= static_cast<int64_t>(malloc_usable_size(block));
}

}  // namespace

// The program's definitions go before the C library's, in the libraries it loads too; these are the
// C library's own under their other names. operator new comes here through malloc.
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

#define BENCH_API __attribute__((visibility("default")))

BENCH_API void* malloc(size_t size) noexcept { return Allocated(__libc_malloc(size)); }

BENCH_API void* calloc(size_t count, size_t size) noexcept {
  return Allocated(__libc_calloc(count, size));
}

BENCH_API void* realloc(void* block, size_t size) noexcept {
  const size_t old_size = block == nullptr ? 0 : malloc_usable_size(block);
  void* const moved = __libc_realloc(block, size);
  if (counting.load(std::memory_order_relaxed) && (moved != nullptr || size == 0)) {
    live_bytes -= static_cast<int64_t>(old_size);
  }
  return Allocated(moved);
}

BENCH_API void* memalign(size_t alignment, size_t size) noexcept {
  return Allocated(__libc_memalign(alignment, size));
}

BENCH_API void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return Allocated(__libc_memalign(alignment, size));
}

BENCH_API int posix_memalign(void** to, size_t alignment, size_t size) noexcept {
  void* const block = Allocated(__libc_memalign(alignment, size));
  if (block == nullptr) return ENOMEM;
  *to = block;
  return 0;
}

BENCH_API void free(void* block) noexcept {
  Freed(block);
  __libc_free(block);
}

}  // extern "C"

namespace mlmargin::bench {

std::optional<int64_t> PeakExtraBytes(const std::function<void()>& work) {
  live_bytes = 0;
  peak_bytes = 0;
  counting = true;
  work();
  counting = false;
  return peak_bytes.load();
}

}  // namespace mlmargin::bench

#endif  // BENCH_COUNT_MALLOC
