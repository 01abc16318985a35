// SPDX-License-Identifier: Apache-2.0
// Device memory as that of a device of its own (MLMARGIN_DEVICE_MEMORY=isolated): at the address
// that the caller gets nothing can be read or written; the bytes lie elsewhere in the process.
#ifndef MLMARGIN_RUNTIME_ISOLATED_MEMORY_H_
#define MLMARGIN_RUNTIME_ISOLATED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "runtime/call_site.h"

namespace mlmargin::runtime {

// What reports say of an allocation.
struct IsolatedRecord {
  uint64_t number = 0;  // Counts the allocations of the process, from 1.
  uintptr_t device_begin = 0;
  uintptr_t host_begin = 0;
  size_t bytes = 0;
  int32_t device_id = 0;
  bool freed = false;
  CallSite allocated_at;
  CallSite freed_at;  // Unknown for memory that goes with its device.
};

// Where an address lies that could not be touched. kBesideBytes: in the pages around the bytes that
// the host has of an allocation.
enum class FaultPlace { kElsewhere, kOnDevice, kBesideBytes };

// One allocation. Thread-safe.
class IsolatedMemory {
 public:
  // Null if there is no memory or no address space left. `huge_pages` is a wish.
  static std::unique_ptr<IsolatedMemory> Allocate(size_t bytes, bool huge_pages, int32_t device_id);
  // Returns the bytes. The device's addresses stay taken until some thousand others were freed, so
  // that a late use is told from that of a newer allocation.
  ~IsolatedMemory();
  IsolatedMemory(const IsolatedMemory&) = delete;
  IsolatedMemory& operator=(const IsolatedMemory&) = delete;

  void* device_address() const;
  void* host_address() const;
  void MarkFreed();  // The caller's aclrtFree; a task may hold the bytes for longer.
  CallSite freed_at() const;

 private:
  struct Entry;
  struct Table;
  static Table& Entries();
  friend FaultPlace FindFaultPlace(uintptr_t address, IsolatedRecord* record) noexcept;

  explicit IsolatedMemory(std::list<Entry>::iterator entry) : entry_(entry) {}

  const std::list<Entry>::iterator entry_;
};

// For a signal handler: allocates nothing, and gives up (kElsewhere) rather than wait for ever.
FaultPlace FindFaultPlace(uintptr_t address, IsolatedRecord* record) noexcept;

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_ISOLATED_MEMORY_H_
