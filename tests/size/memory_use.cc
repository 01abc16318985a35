// SPDX-License-Identifier: Apache-2.0
#include "size/memory_use.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

namespace {

std::atomic<int64_t> live_bytes = 0;
std::atomic<int64_t> peak_bytes = 0;

void* Counted(void* memory) noexcept {
  if (memory == nullptr) return nullptr;
  const int64_t live = live_bytes += static_cast<int64_t>(malloc_usable_size(memory));
  int64_t peak = peak_bytes;
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
  return memory;
}

void* Required(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Free(void* memory) noexcept {
  live_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

void* Aligned(size_t bytes, std::align_val_t alignment) noexcept {
  const auto align = static_cast<size_t>(alignment);
  return Counted(std::aligned_alloc(align, (bytes + align - 1) / align * align));
}

}  // namespace

// The other forms end in these.
void* operator new(size_t bytes) { return Required(Counted(std::malloc(bytes))); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return Counted(std::malloc(bytes));
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Required(Aligned(bytes, alignment));
}
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete[](void* memory, size_t) noexcept { Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { Free(memory); }

namespace mlmargin::testing {
namespace {

// A line "<name>: <n> kB" of a file in /proc, in bytes; -1 if there is none.
int64_t Field(const char* path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    int64_t kib = 0;
    if (word == name + ":" && file >> kib) return kib * 1024;
  }
  return -1;
}

// Sets the peak of the resident memory to what it is now.
bool ResetResidentPeak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

}  // namespace

MemoryUse::MemoryUse() : heap_before_(live_bytes), resident_before_(-1) {
  if (ResetResidentPeak()) resident_before_ = Field("/proc/self/status", "VmRSS");
  peak_bytes = heap_before_;
}

int64_t MemoryUse::HeapBytes() const { return peak_bytes - heap_before_; }

int64_t MemoryUse::ResidentBytes() const {
  if (resident_before_ < 0) return -1;
  return std::max<int64_t>(0, Field("/proc/self/status", "VmHWM") - resident_before_);
}

int64_t AvailableBytes() { return Field("/proc/meminfo", "MemAvailable"); }

}  // namespace mlmargin::testing
