// SPDX-License-Identifier: Apache-2.0
#include "size/repeated_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace mlmargin::testing {

RepeatedMemory::RepeatedMemory(int64_t window_bytes, int64_t bytes, Ends ends)
    : bytes_(static_cast<size_t>(bytes)) {
  const int file = memfd_create("repeated_memory", MFD_CLOEXEC);
  if (file < 0) return;
  void* const range =
      mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range != MAP_FAILED) {
    data_ = static_cast<char*>(range);
    if (ftruncate(file, 3 * window_bytes) != 0 ||
        !MapWindows(file, static_cast<size_t>(window_bytes), ends)) {
      munmap(range, bytes_);
      data_ = nullptr;
    }
  }
  close(file);
}

bool RepeatedMemory::MapWindows(int file, size_t window_bytes, Ends ends) {
  for (size_t at = 0; at < bytes_; at += window_bytes) {
    const size_t size = std::min(window_bytes, bytes_ - at);
    size_t place = 0;
    if (ends == Ends::kOwn && at == 0) place = 1;
    if (ends == Ends::kOwn && at + size == bytes_) place = 2;
    // Populated, since a page fault for each page of each window takes longer than the test.
    const void* const window =
        mmap(data_ + at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file,
             static_cast<off_t>(place * window_bytes));
    if (window == MAP_FAILED) return false;
  }
  return true;
}

RepeatedMemory::~RepeatedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

SparseMemory::SparseMemory(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
  void* const range = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range != MAP_FAILED) data_ = static_cast<char*>(range);
}

SparseMemory::~SparseMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace mlmargin::testing
