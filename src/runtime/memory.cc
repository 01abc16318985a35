// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "acl/acl.h"
#include "runtime/debug_settings.h"
#include "runtime/errors.h"
#include "runtime/never_destroyed.h"

namespace mlmargin::runtime {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kDeviceGranule = 32;
constexpr size_t kHugePageBytes = size_t{2} << 20;

uintptr_t AddressOf(const void* address) { return reinterpret_cast<uintptr_t>(address); }

// Blocks that do not overlap, by first address.
class BlockTable {
 public:
  using Holder = std::shared_ptr<const Block>;

  void Insert(Holder block) {
    const std::unique_lock lock(mutex_);
    blocks_.insert_or_assign(AddressOf(block->data()), std::move(block));
  }

  // False, and nothing inserted, if the block overlaps another.
  bool InsertIfApart(Holder block) {
    const std::unique_lock lock(mutex_);
    if (OverlapsLocked(block->data(), block->bytes())) return false;
    blocks_.emplace(AddressOf(block->data()), std::move(block));
    return true;
  }

  bool Overlaps(const void* address, size_t bytes) const {
    const std::shared_lock lock(mutex_);
    return OverlapsLocked(address, bytes);
  }

  Holder FindAt(const void* address) const {
    const std::shared_lock lock(mutex_);
    const auto after = blocks_.upper_bound(AddressOf(address));
    if (after == blocks_.begin()) return nullptr;
    const Holder& block = std::prev(after)->second;
    return block->Holds(address, 1) ? block : nullptr;
  }

  // Takes out the block that begins at `address` and is of that kind; null if there is none.
  Holder Remove(const void* address, BlockKind kind) {
    const std::unique_lock lock(mutex_);
    const auto it = blocks_.find(AddressOf(address));
    if (it == blocks_.end() || it->second->kind() != kind) return nullptr;
    Holder block = std::move(it->second);
    blocks_.erase(it);
    return block;
  }

  // Moves out the blocks for which `predicate` holds.
  template <typename Predicate>
  void MoveOut(Predicate predicate, DeviceMemory* out) {
    const std::unique_lock lock(mutex_);
    for (auto it = blocks_.begin(); it != blocks_.end();) {
      const auto here = it++;
      if (predicate(*here->second)) out->insert(blocks_.extract(here));
    }
  }

 private:
  bool OverlapsLocked(const void* address, size_t bytes) const {
    const uintptr_t begin = AddressOf(address);
    const auto after = blocks_.upper_bound(begin);
    if (after != blocks_.end() && after->first - begin < bytes) return true;
    return after != blocks_.begin() && std::prev(after)->second->Holds(address, 1);
  }

  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, Holder> blocks_;
};

// Two tables, since a registration may outlive its memory: when the caller freed the memory
// without unregistering, the allocator may give us the same addresses.
BlockTable& Allocated() {
  static NeverDestroyed<BlockTable> table;
  return table.get();
}

BlockTable& Registered() {
  static NeverDestroyed<BlockTable> table;
  return table.get();
}

std::atomic<size_t> device_bytes_in_use = 0;

Status NoMemory(size_t size) {
  return OutOfMemory(fmt::format("argument size is {} bytes; {} of {} are free.{}", size,
                                 FreeDeviceBytes(), TotalDeviceBytes(),
                                 DeviceMemoryIsIsolated()
                                     ? " Isolated device memory also needs two mappings for each "
                                       "live allocation, of which the "
                                       "system gives a process vm.max_map_count."
                                     : ""));
}

// Books `bytes` if they fit into what is left.
bool Reserve(size_t bytes) {
  const size_t total = TotalDeviceBytes();
  size_t in_use = device_bytes_in_use.load(std::memory_order_relaxed);
  do {
    if (bytes > total || in_use > total - bytes) return false;
  } while (!device_bytes_in_use.compare_exchange_weak(in_use, in_use + bytes,
                                                      std::memory_order_relaxed));
  return true;
}

void Unreserve(size_t bytes) { device_bytes_in_use.fetch_sub(bytes, std::memory_order_relaxed); }

struct FreeBytes {
  void operator()(void* data) const { std::free(data); }
};
using Bytes = std::unique_ptr<void, FreeBytes>;

bool WantsHugePages(size_t bytes, Pages pages) {
  return pages == Pages::kHuge && bytes >= kHugePageBytes;
}

// From the ordinary allocator, so that memory checkers see an overrun. Null if there is none.
Bytes AllocateBytes(size_t bytes, Pages pages) {
  const bool huge = WantsHugePages(bytes, pages);
  void* data = nullptr;
  if (posix_memalign(&data, huge ? kHugePageBytes : kAlignment, bytes) != 0) return nullptr;
  // A wish; a kernel without huge pages serves ordinary ones.
  if (huge) madvise(data, bytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
  return Bytes(data);
}

// The block that owns `data`.
std::shared_ptr<Block> MakeBlock(Bytes data, size_t bytes, BlockKind kind, int32_t device_id) {
  auto block = std::make_shared<Block>(data.get(), bytes, kind, device_id);
  static_cast<void>(data.release());
  return block;
}

// A block of device memory; null if there is none.
std::shared_ptr<Block> MakeDeviceBlock(size_t bytes, Pages pages, int32_t device_id) {
  if (DeviceMemoryIsIsolated()) {
    auto isolated = IsolatedMemory::Allocate(bytes, WantsHugePages(bytes, pages), device_id);
    if (isolated == nullptr) return nullptr;
    return std::make_shared<Block>(std::move(isolated), bytes, device_id);
  }
  Bytes data = AllocateBytes(bytes, pages);
  if (data == nullptr) return nullptr;
  return MakeBlock(std::move(data), bytes, BlockKind::kDevice, device_id);
}

// Bytes booked for a block that is not made yet.
struct Reservation {
  size_t bytes = 0;

  ~Reservation() { Unreserve(bytes); }
};

// Why `address` is not the start of a live block of that kind.
Status CannotFree(const void* address, BlockKind kind) {
  const bool device = kind == BlockKind::kDevice;
  const char* const argument = device ? "devPtr" : "hostPtr";
  const char* const allocate = device ? "aclrtMalloc" : "aclrtMallocHost";
  const std::shared_ptr<const Block> block = Allocated().FindAt(address);
  if (block == nullptr) {
    return InvalidRuntimeParam(
        fmt::format("argument {} is {}, which was freed already or is not "
                    "from {}.",
                    argument, address, allocate));
  }
  if (block->kind() != kind) {
    return InvalidRuntimeParam(fmt::format(
        "argument {} is {}, which is from {}; free it with {}.", argument, address,
        device ? "aclrtMallocHost" : "aclrtMalloc", device ? "aclrtFreeHost" : "aclrtFree"));
  }
  return InvalidRuntimeParam(
      fmt::format("argument {} is {}, {} bytes into a block; expected the "
                  "block's start, {}.",
                  argument, address, AddressOf(address) - AddressOf(block->data()), block->data()));
}

}  // namespace

Block::Block(std::unique_ptr<IsolatedMemory> isolated, size_t bytes, int32_t device_id)
    : Block(isolated->device_address(), bytes, BlockKind::kDevice, device_id) {
  isolated_ = std::move(isolated);
}

Block::~Block() {
  if (kind_ == BlockKind::kRegisteredHost) return;
  if (isolated_ == nullptr) std::free(data_);
  if (kind_ == BlockKind::kDevice) Unreserve(bytes_);
}

bool Block::Holds(const void* address, size_t bytes) const {
  const uintptr_t begin = AddressOf(data_);
  const uintptr_t first = AddressOf(address);
  if (first < begin || first - begin > bytes_) return false;
  return bytes <= bytes_ - (first - begin);
}

void* Block::HostAddress(const void* address) const {
  void* const begin = isolated_ == nullptr ? data_ : isolated_->host_address();
  return reinterpret_cast<void*>(AddressOf(begin) + (AddressOf(address) - AddressOf(data_)));
}

void Block::MarkFreed() const {
  freed_.store(true, std::memory_order_release);
  if (isolated_ != nullptr) isolated_->MarkFreed();
}

CallSite Block::freed_at() const {
  return isolated_ == nullptr ? CallSite() : isolated_->freed_at();
}

void* HostAddress(const Block& block, const void* address) { return block.HostAddress(address); }

std::shared_ptr<const Block> FindBlockAt(const void* address) {
  std::shared_ptr<const Block> block = Allocated().FindAt(address);
  return block != nullptr ? block : Registered().FindAt(address);
}

std::shared_ptr<const Block> FindBlock(const void* address, size_t bytes) {
  std::shared_ptr<const Block> block = FindBlockAt(address);
  return block != nullptr && block->Holds(address, bytes) ? block : nullptr;
}

std::shared_ptr<const Block> FindDeviceMemory(const void* address, size_t bytes) {
  std::shared_ptr<const Block> block = FindBlock(address, bytes);
  return block != nullptr && block->kind() != BlockKind::kPinnedHost ? block : nullptr;
}

bool TouchesAllocation(const void* address, size_t bytes) {
  return Allocated().Overlaps(address, bytes);
}

Status AllocateDevice(size_t size, Pages pages, int32_t device_id, void** address) {
  if (size > SIZE_MAX - (kDeviceGranule - 1)) return NoMemory(size);
  const size_t bytes = (size + kDeviceGranule - 1) / kDeviceGranule * kDeviceGranule;
  if (!Reserve(bytes)) return NoMemory(size);
  Reservation reservation{bytes};
  std::shared_ptr<Block> block = MakeDeviceBlock(bytes, pages, device_id);
  if (block == nullptr) return NoMemory(size);
  reservation.bytes = 0;  // The block returns them.
  void* const start = block->data();
  Allocated().Insert(std::move(block));
  *address = start;
  return {};
}

Status AllocatePinned(size_t size, int32_t device_id, void** address) {
  Bytes data = size > TotalDeviceBytes() ? nullptr : AllocateBytes(size, Pages::kHuge);
  if (data == nullptr) return NoMemory(size);
  auto block = MakeBlock(std::move(data), size, BlockKind::kPinnedHost, device_id);
  void* const start = block->data();
  Allocated().Insert(std::move(block));
  *address = start;
  return {};
}

Status FreeBlock(void* address, BlockKind kind) {
  // The block goes outside the table's lock, when the last task that holds it is done.
  const std::shared_ptr<const Block> block = Allocated().Remove(address, kind);
  if (block == nullptr) return CannotFree(address, kind);
  block->MarkFreed();
  return {};
}

Status RegisterHost(void* address, size_t bytes, int32_t device_id) {
  if (bytes > UINTPTR_MAX - AddressOf(address)) {
    return InvalidRuntimeParam(
        fmt::format("argument size is {} bytes, more than there are "
                    "addresses after ptr, {}.",
                    bytes, address));
  }
  if (TouchesAllocation(address, bytes)) {
    return InvalidRuntimeParam(
        fmt::format("argument ptr is {} with {} bytes, which overlaps "
                    "memory from aclrtMalloc or aclrtMallocHost; expected "
                    "memory of the caller's own.",
                    address, bytes));
  }
  if (!Registered().InsertIfApart(
          std::make_shared<Block>(address, bytes, BlockKind::kRegisteredHost, device_id))) {
    return Status(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "EE1001",
                  fmt::format("argument ptr is {} with {} bytes, of which some are registered "
                              "already.",
                              address, bytes));
  }
  return {};
}

Status UnregisterHost(void* address) {
  if (Registered().Remove(address, BlockKind::kRegisteredHost) != nullptr) return {};
  return Status(
      ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "EE1001",
      fmt::format("argument ptr is {}; expected the start of a registered range.", address));
}

DeviceMemory TakeDeviceMemory(std::optional<int32_t> device_id) {
  DeviceMemory taken;
  const auto belongs = [&](const Block& block) {
    // Pinned memory is the host's: it stays valid until aclrtFreeHost.
    if (block.kind() == BlockKind::kPinnedHost) return false;
    return !device_id || block.device_id() == *device_id;
  };
  Allocated().MoveOut(belongs, &taken);
  Registered().MoveOut(belongs, &taken);
  return taken;
}

size_t TotalDeviceBytes() {
  static const size_t total =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return total;
}

size_t FreeDeviceBytes() {
  return TotalDeviceBytes() - device_bytes_in_use.load(std::memory_order_relaxed);
}

}  // namespace mlmargin::runtime
