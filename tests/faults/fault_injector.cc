// SPDX-License-Identifier: Apache-2.0
#include "faults/fault_injector.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include "support/sanitizers.h"

namespace mlmargin::testing {
namespace {

// ---- Who asks --------------------------------------------------------------------------------

enum class Asker { kLibrary, kProgram, kOther };

struct CodeRange {
  uintptr_t begin;
  uintptr_t end;
  Asker asker;
};

// The code of this program, of oneTBB and of the C library; all other code is the libraries'.
struct CodeRanges {
  std::array<CodeRange, 32> ranges;
  size_t count = 0;
};
CodeRanges code_ranges;

int AddRanges(dl_phdr_info* info, size_t, void*) {
  const std::string_view name = info->dlpi_name;
  const auto is = [&](const char* part) { return name.find(part) != std::string_view::npos; };
  if (!name.empty() && !is("/libtbb") && !is("/libc.so") && !is("/ld-linux")) return 0;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || code_ranges.count == code_ranges.ranges.size()) continue;
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    code_ranges.ranges[code_ranges.count++] = {begin, begin + header.p_memsz,
                                               name.empty() ? Asker::kProgram : Asker::kOther};
  }
  return 0;
}

[[maybe_unused]] const int ranges_found = dl_iterate_phdr(&AddRanges, nullptr);

Asker AskerAt(const void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  const CodeRange* const end = code_ranges.ranges.data() + code_ranges.count;
  const CodeRange* const found =
      std::find_if(static_cast<const CodeRange*>(code_ranges.ranges.data()), end,
                   [&](const CodeRange& r) { return address >= r.begin && address < r.end; });
  return found == end ? Asker::kLibrary : found->asker;
}

// ---- What fails ------------------------------------------------------------------------------

std::atomic<bool> armed = false;
std::atomic<bool> only_once = false;
std::atomic<int64_t> requests_left = 0;
std::atomic<int64_t> faults = 0;
std::atomic<const void*> first_site = nullptr;
std::atomic<int64_t> live_blocks = 0;

[[maybe_unused]] bool MustFail(const void* caller) {
  if (!armed.load() || AskerAt(caller) != Asker::kLibrary) return false;
  const int64_t left = requests_left.fetch_sub(1) - 1;
  if (left > 0 || (left < 0 && only_once.load())) return false;
  if (faults.fetch_add(1) == 0) first_site = caller;
  return true;
}

[[maybe_unused]] void Count(const void* caller, int change) {
  if (AskerAt(caller) != Asker::kOther) live_blocks.fetch_add(change, std::memory_order_relaxed);
}

}  // namespace

void ArmFaults(FaultMode mode, int64_t nth) {
  only_once = mode == FaultMode::kOnce;
  requests_left = nth;
  faults = 0;
  armed = true;
}

int64_t FaultsInjected() { return faults.load(); }

void DisarmFaults() { armed = false; }

std::string FaultSite() {
  Dl_info info{};
  const void* const site = first_site.load();
  if (site == nullptr || dladdr(site, &info) == 0) return "nowhere";
  const std::string_view path = info.dli_fname;
  std::array<char, 32> offset;
  std::snprintf(offset.data(), offset.size(), "+%#tx",
                static_cast<const char*>(site) - static_cast<const char*>(info.dli_fbase));
  return std::string(path.substr(path.rfind('/') + 1)) + offset.data();
}

int64_t LiveBlocks() { return live_blocks.load(); }

}  // namespace mlmargin::testing

#ifndef MLMARGIN_TSAN

// The libraries must see what is defined here.
#pragma GCC visibility push(default)

using mlmargin::testing::Count;
using mlmargin::testing::MustFail;

// Each function below must see its own caller, so none may be inlined into another.
#define MLMARGIN_CALLER __builtin_return_address(0)

// ---- malloc and its kin ----------------------------------------------------------------------

#ifdef MLMARGIN_ASAN
namespace {
void* Allocate(size_t bytes) { return std::malloc(bytes); }
void* AllocateAligned(size_t alignment, size_t bytes) {
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}
void Release(void* memory) { std::free(memory); }
}  // namespace
#else
extern "C" {
// What glibc's functions are under the names that this program takes.
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);

[[gnu::noinline]] void* malloc(size_t bytes) {
  if (MustFail(MLMARGIN_CALLER)) return nullptr;
  Count(MLMARGIN_CALLER, 1);
  return __libc_malloc(bytes);
}
[[gnu::noinline]] void* calloc(size_t count, size_t bytes) {
  if (MustFail(MLMARGIN_CALLER)) return nullptr;
  Count(MLMARGIN_CALLER, 1);
  return __libc_calloc(count, bytes);
}
[[gnu::noinline]] void* realloc(void* memory, size_t bytes) {
  if (MustFail(MLMARGIN_CALLER)) return nullptr;
  if (memory == nullptr) Count(MLMARGIN_CALLER, 1);
  return __libc_realloc(memory, bytes);
}
[[gnu::noinline]] void* aligned_alloc(size_t alignment, size_t bytes) {
  if (MustFail(MLMARGIN_CALLER)) return nullptr;
  Count(MLMARGIN_CALLER, 1);
  return __libc_memalign(alignment, bytes);
}
[[gnu::noinline]] int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (MustFail(MLMARGIN_CALLER)) return ENOMEM;
  Count(MLMARGIN_CALLER, 1);
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
[[gnu::noinline]] void free(void* memory) {
  if (memory != nullptr) Count(MLMARGIN_CALLER, -1);
  __libc_free(memory);
}
}  // extern "C"

namespace {
void* Allocate(size_t bytes) { return __libc_malloc(bytes); }
void* AllocateAligned(size_t alignment, size_t bytes) { return __libc_memalign(alignment, bytes); }
void Release(void* memory) { __libc_free(memory); }
}  // namespace
#endif  // MLMARGIN_ASAN

// ---- operator new and delete -----------------------------------------------------------------

namespace {

void* New(size_t bytes, const void* caller) {
  if (MustFail(caller)) return nullptr;
  Count(caller, 1);
  return Allocate(bytes == 0 ? 1 : bytes);
}

void* NewAligned(size_t bytes, std::align_val_t alignment, const void* caller) {
  if (MustFail(caller)) return nullptr;
  Count(caller, 1);
  return AllocateAligned(static_cast<size_t>(alignment), bytes == 0 ? 1 : bytes);
}

void* OrThrow(void* memory) { return memory != nullptr ? memory : throw std::bad_alloc(); }

void Delete(void* memory, const void* caller) {
  if (memory == nullptr) return;
  Count(caller, -1);
  Release(memory);
}

}  // namespace

#define MLMARGIN_NEW [[gnu::noinline]] void* operator
#define MLMARGIN_DELETE [[gnu::noinline]] void operator
MLMARGIN_NEW new (size_t bytes) { return OrThrow(New(bytes, MLMARGIN_CALLER)); }
MLMARGIN_NEW new[](size_t bytes) { return OrThrow(New(bytes, MLMARGIN_CALLER)); }
MLMARGIN_NEW new (size_t bytes, const std::nothrow_t&) noexcept {
  return New(bytes, MLMARGIN_CALLER);
}
MLMARGIN_NEW new[](size_t bytes, const std::nothrow_t&) noexcept {
  return New(bytes, MLMARGIN_CALLER);
}
MLMARGIN_NEW new (size_t bytes, std::align_val_t alignment) {
  return OrThrow(NewAligned(bytes, alignment, MLMARGIN_CALLER));
}
MLMARGIN_NEW new[](size_t bytes, std::align_val_t alignment) {
  return OrThrow(NewAligned(bytes, alignment, MLMARGIN_CALLER));
}
MLMARGIN_DELETE delete (void* memory) noexcept { Delete(memory, MLMARGIN_CALLER); }
MLMARGIN_DELETE delete[](void* memory) noexcept { Delete(memory, MLMARGIN_CALLER); }
MLMARGIN_DELETE delete (void* memory, size_t) noexcept { Delete(memory, MLMARGIN_CALLER); }
MLMARGIN_DELETE delete[](void* memory, size_t) noexcept { Delete(memory, MLMARGIN_CALLER); }
MLMARGIN_DELETE delete (void* memory, const std::nothrow_t&) noexcept {
  Delete(memory, MLMARGIN_CALLER);
}
MLMARGIN_DELETE delete[](void* memory, const std::nothrow_t&) noexcept {
  Delete(memory, MLMARGIN_CALLER);
}
MLMARGIN_DELETE delete (void* memory, std::align_val_t) noexcept {
  Delete(memory, MLMARGIN_CALLER);
}
MLMARGIN_DELETE delete[](void* memory, std::align_val_t) noexcept {
  Delete(memory, MLMARGIN_CALLER);
}
MLMARGIN_DELETE delete (void* memory, size_t, std::align_val_t) noexcept {
  Delete(memory, MLMARGIN_CALLER);
}
MLMARGIN_DELETE delete[](void* memory, size_t, std::align_val_t) noexcept {
  Delete(memory, MLMARGIN_CALLER);
}

// ---- Threads ---------------------------------------------------------------------------------

extern "C" [[gnu::noinline]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                void* (*routine)(void*), void* argument) noexcept {
  if (MustFail(MLMARGIN_CALLER)) return EAGAIN;
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, routine, argument);
}

#pragma GCC visibility pop

#endif  // MLMARGIN_TSAN
