// SPDX-License-Identifier: Apache-2.0
// The memory module: which address belongs to which live allocation. Every access to device
// memory by copies, memsets and operators is checked here first.
#ifndef MLMARGIN_RUNTIME_MEMORY_H_
#define MLMARGIN_RUNTIME_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

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
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }  // As usable: a multiple of 32 for device memory.
  BlockKind kind() const { return kind_; }
  int32_t device_id() const { return device_id_; }

 private:
  void* data_;
  size_t bytes_;
  BlockKind kind_;
  int32_t device_id_;
};

// The live block of any kind that holds the first byte of `address`; null if there is none.
std::shared_ptr<const Block> FindBlockAt(const void* address);

// The live block of any kind that holds all of [address, address + bytes); null if none does.
std::shared_ptr<const Block> FindBlock(const void* address, size_t bytes);

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_MEMORY_H_
