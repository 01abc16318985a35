// SPDX-License-Identifier: Apache-2.0
#include "runtime/isolated_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "runtime/fault_report.h"
#include "runtime/signal_lock.h"

namespace mlmargin::runtime {
namespace {

// Freed addresses that stay taken. Each range is an entry of the system's list of mappings, of
// which a process has 65,530.
constexpr size_t kMaxFreed = 4096;
constexpr size_t kMaxFreedBytes = size_t{1} << 40;

size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Whole pages that cannot be touched.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(size_t bytes) {
    void* const data =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return;
    begin_ = reinterpret_cast<uintptr_t>(data);
    bytes_ = bytes;
  }
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (bytes_ != 0) munmap(reinterpret_cast<void*>(begin_), bytes_);
  }

  uintptr_t begin() const { return begin_; }
  size_t bytes() const { return bytes_; }  // 0: there was none to be had.
  bool Holds(uintptr_t address) const { return address - begin_ < bytes_; }

  // Makes all pages but the first and the last ordinary memory.
  bool OpenInner(bool huge_pages) {
    void* const inner = reinterpret_cast<void*>(begin_ + PageBytes());
    const size_t bytes = bytes_ - 2 * PageBytes();
    if (mprotect(inner, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    if (huge_pages) madvise(inner, bytes, MADV_HUGEPAGE);
    return true;
  }

 private:
  uintptr_t begin_ = 0;
  size_t bytes_ = 0;
};

}  // namespace

struct IsolatedMemory::Entry {
  IsolatedRecord record;
  Mapping device;
  Mapping host;
};

struct IsolatedMemory::Table {
  std::mutex mutex;
  uint64_t num_allocated = 0;
  std::list<Entry> live;
  std::list<Entry> freed;  // Oldest first.
  size_t freed_bytes = 0;  // Of addresses.
};

IsolatedMemory::Table& IsolatedMemory::Entries() {
  static Table& table = *new Table;
  return table;
}

std::unique_ptr<IsolatedMemory> IsolatedMemory::Allocate(size_t bytes, bool huge_pages,
                                                         int32_t device_id) {
  InstallFaultReport();
  const size_t page = PageBytes();
  if (bytes > SIZE_MAX / 2) return nullptr;
  const size_t inner = (bytes + page - 1) / page * page;
  std::list<Entry> made(1);
  Entry& entry = made.front();
  entry.device = Mapping(inner);
  entry.host = Mapping(inner + 2 * page);
  if (entry.device.bytes() == 0 || entry.host.bytes() == 0) return nullptr;
  if (!entry.host.OpenInner(huge_pages)) return nullptr;
  // The bytes end where the last page begins, so that an overrun meets it.
  entry.record = {.device_begin = entry.device.begin(),
                  .host_begin = entry.host.begin() + page + (inner - bytes),
                  .bytes = bytes,
                  .device_id = device_id,
                  .allocated_at = CallSite::Here(),
                  .freed_at = {}};
  std::unique_ptr<IsolatedMemory> memory(new IsolatedMemory(made.begin()));
  Table& table = Entries();
  const std::lock_guard lock(table.mutex);
  entry.record.number = ++table.num_allocated;
  table.live.splice(table.live.end(), made);
  return memory;
}

IsolatedMemory::~IsolatedMemory() {
  Table& table = Entries();
  std::list<Entry> gone;  // Unmapped after the lock is released.
  const Mapping host = std::move(entry_->host);
  const std::lock_guard lock(table.mutex);
  entry_->record.freed = true;
  table.freed_bytes += entry_->device.bytes();
  table.freed.splice(table.freed.end(), table.live, entry_);
  while (table.freed.size() > kMaxFreed || table.freed_bytes > kMaxFreedBytes) {
    table.freed_bytes -= table.freed.front().device.bytes();
    gone.splice(gone.end(), table.freed, table.freed.begin());
  }
}

void* IsolatedMemory::device_address() const {
  return reinterpret_cast<void*>(entry_->record.device_begin);
}

void* IsolatedMemory::host_address() const {
  return reinterpret_cast<void*>(entry_->record.host_begin);
}

void IsolatedMemory::MarkFreed() {
  const CallSite here = CallSite::Here();
  const std::lock_guard lock(Entries().mutex);
  entry_->record.freed = true;
  entry_->record.freed_at = here;
}

CallSite IsolatedMemory::freed_at() const {
  const std::lock_guard lock(Entries().mutex);
  return entry_->record.freed_at;
}

FaultPlace FindFaultPlace(uintptr_t address, IsolatedRecord* record) noexcept {
  IsolatedMemory::Table& table = IsolatedMemory::Entries();
  const SignalLock lock(table.mutex);
  if (!lock.held()) return FaultPlace::kElsewhere;
  for (const auto* entries : {&table.live, &table.freed}) {
    for (const IsolatedMemory::Entry& entry : *entries) {
      const bool on_device = entry.device.Holds(address);
      if (!on_device && !entry.host.Holds(address)) continue;
      *record = entry.record;
      return on_device ? FaultPlace::kOnDevice : FaultPlace::kBesideBytes;
    }
  }
  return FaultPlace::kElsewhere;
}

}  // namespace mlmargin::runtime
