// SPDX-License-Identifier: Apache-2.0
// The memory module: which address belongs to which live allocation. Every access to device
// memory by copies, memsets and operators is checked here first.
#ifndef MLMARGIN_RUNTIME_MEMORY_H_
#define MLMARGIN_RUNTIME_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "runtime/isolated_memory.h"
#include "runtime/private_api.h"
#include "runtime/status.h"

namespace mlmargin::runtime {

enum class BlockKind { kDevice, kPinnedHost, kRegisteredHost };

// One allocation. The last holder returns the memory: aclrtFree makes the address invalid for
// new calls at once, while a queued task that holds the block keeps its bytes mapped.
class Block {
 public:
  // Takes over `data`, got from the allocator in memory.cc; a registered range stays the user's.
  Block(void* data, size_t bytes, BlockKind kind, int32_t device_id)
      : data_(data), bytes_(bytes), kind_(kind), device_id_(device_id) {}
  // Device memory that the host cannot reach.
  Block(std::unique_ptr<IsolatedMemory> isolated, size_t bytes, int32_t device_id);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void* data() const { return data_; }     // The address on the device.
  size_t bytes() const { return bytes_; }  // As usable: a multiple of 32 for device memory.
  BlockKind kind() const { return kind_; }
  int32_t device_id() const { return device_id_; }

  // Whether [address, address + bytes) lies in the block.
  bool Holds(const void* address, size_t bytes) const;

  void* HostAddress(const void* address) const;  // See private_api.h.

  // Whether the caller has freed it, which a task that holds it may outlive.
  bool freed() const { return freed_.load(std::memory_order_acquire); }
  void MarkFreed() const;
  CallSite freed_at() const;  // Known for isolated memory.

 private:
  void* data_;
  size_t bytes_;
  BlockKind kind_;
  int32_t device_id_;
  std::unique_ptr<IsolatedMemory> isolated_;
  mutable std::atomic<bool> freed_ = false;
};

// The live block of any kind that holds the first byte of `address`; null if there is none. Where
// an allocation and a stale registration overlap, the allocation counts. O(log blocks), as all
// look-ups.
std::shared_ptr<const Block> FindBlockAt(const void* address);

// The live block of any kind that holds all of [address, address + bytes); null if none does.
std::shared_ptr<const Block> FindBlock(const void* address, size_t bytes);

// Whether any of these bytes is in a live allocation, device or pinned memory.
bool TouchesAllocation(const void* address, size_t bytes);

// Allocates `size` (not 0) bytes at a multiple of 64, rounded up to a multiple of 32. 207001 when
// the devices together would hold more than the machine's memory, or the allocator has none.
enum class Pages { kOrdinary, kHuge };  // Huge pages from 2 MiB up, where the kernel has them.
Status AllocateDevice(size_t size, Pages pages, int32_t device_id, void** address);

// The same for host memory, without rounding.
Status AllocatePinned(size_t size, int32_t device_id, void** address);

// Frees a block of that kind (device or pinned) by its first address. 107000 with the reason:
// freed already, foreign, inside a block, or of the other kind.
Status FreeBlock(void* address, BlockKind kind);

// Makes the caller's memory known to the device. 507910 if any byte is registered already, 107000
// if any is in an allocation of ours.
Status RegisterHost(void* address, size_t bytes, int32_t device_id);
Status UnregisterHost(void* address);  // 507911 if no registration begins there.

// Takes a device's memory and registrations (no device: all) out of the tables, without memory for
// that. By first address.
using DeviceMemory = std::multimap<uintptr_t, std::shared_ptr<const Block>>;
DeviceMemory TakeDeviceMemory(std::optional<int32_t> device_id);

// All devices share the machine's physical memory.
size_t TotalDeviceBytes();
size_t FreeDeviceBytes();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_MEMORY_H_
