// SPDX-License-Identifier: Apache-2.0
// More memory than the machine has: a small file that is mapped again and again.
#ifndef MLMARGIN_TESTS_SIZE_REPEATED_MEMORY_H_
#define MLMARGIN_TESTS_SIZE_REPEATED_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace mlmargin::testing {

enum class Ends {
  kShared,  // Every window shows the same memory.
  kOwn,     // The first and the last one have memory of their own.
};

// `bytes` of address space in windows of `window_bytes`, a multiple of the page; the last window
// may be shorter. What is written through one window shows in all that share its memory.
class RepeatedMemory {
 public:
  RepeatedMemory(int64_t window_bytes, int64_t bytes, Ends ends);
  ~RepeatedMemory();
  RepeatedMemory(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(const RepeatedMemory&) = delete;

  // Null if the system refuses so much.
  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  bool MapWindows(int file, size_t window_bytes, Ends ends);

  char* data_ = nullptr;
  size_t bytes_;
};

// Zeroed memory of which only the pages that are touched take room.
class SparseMemory {
 public:
  explicit SparseMemory(int64_t bytes);
  ~SparseMemory();
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  char* data() const { return data_; }  // Null if the system refuses so much.
  size_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  size_t bytes_;
};

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_SIZE_REPEATED_MEMORY_H_
