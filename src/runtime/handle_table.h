// SPDX-License-Identifier: Apache-2.0
// Handles that can be checked: a handle is a number that is used once in the life of the process,
// so a stale handle, or one of another kind, is never mistaken for a live object.
#ifndef MLMARGIN_RUNTIME_HANDLE_TABLE_H_
#define MLMARGIN_RUNTIME_HANDLE_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/private_api.h"

namespace mlmargin::runtime {

// Live objects of one kind by handle. Thread-safe: each shard has its own lock, held only for
// the look-up. An object found stays alive while the caller holds it, removed or not. Only Insert
// and CopyIf need memory.
template <typename T>
class HandleTable {
 public:
  // A tree, whose nodes move between two of them without memory.
  using Objects = std::map<const void*, std::shared_ptr<T>>;

  void* Insert(std::shared_ptr<T> object) {
    void* const handle = NewHandle();
    Shard& shard = ShardOf(handle);
    const std::lock_guard lock(shard.mutex);
    shard.objects.emplace(handle, std::move(object));
    return handle;
  }

  std::shared_ptr<T> Find(const void* handle) const {
    const Shard& shard = ShardOf(handle);
    const std::lock_guard lock(shard.mutex);
    const auto it = shard.objects.find(handle);
    return it == shard.objects.end() ? nullptr : it->second;
  }

  // Puts another object behind a live handle; false if the handle is not live.
  bool Replace(const void* handle, std::shared_ptr<T> object) {
    Shard& shard = ShardOf(handle);
    const std::lock_guard lock(shard.mutex);
    const auto it = shard.objects.find(handle);
    if (it == shard.objects.end()) return false;
    it->second.swap(object);
    return true;
  }

  // Takes the object out; null if the handle is not live. Of two racing calls one gets it.
  std::shared_ptr<T> Remove(const void* handle) {
    Shard& shard = ShardOf(handle);
    const std::lock_guard lock(shard.mutex);
    const auto it = shard.objects.find(handle);
    if (it == shard.objects.end()) return nullptr;
    std::shared_ptr<T> object = std::move(it->second);
    shard.objects.erase(it);
    return object;
  }

  // Takes out all objects for which `predicate` holds; it runs under a lock, so it is short.
  template <typename Predicate>
  Objects RemoveIf(Predicate predicate) {
    Objects removed;
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      for (auto it = shard.objects.begin(); it != shard.objects.end();) {
        const auto here = it++;
        if (predicate(*here->second)) removed.insert(shard.objects.extract(here));
      }
    }
    return removed;
  }

  // Some object for which `predicate` holds, as above; null if there is none.
  template <typename Predicate>
  std::shared_ptr<T> FindIf(Predicate predicate) const {
    for (const Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      for (const auto& [handle, object] : shard.objects) {
        if (predicate(*object)) return object;
      }
    }
    return nullptr;
  }

  // All of them, which stay in the table.
  template <typename Predicate>
  Objects CopyIf(Predicate predicate) const {
    Objects copy;
    for (const Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      for (const auto& entry : shard.objects) {
        if (predicate(*entry.second)) copy.insert(entry);
      }
    }
    return copy;
  }

  size_t size() const {
    size_t total = 0;
    for (const Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      total += shard.objects.size();
    }
    return total;
  }

 private:
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    Objects objects;
  };

  // NewHandle counts in steps of 16, so the bits above the lowest four spread over the shards.
  static size_t IndexOf(const void* handle) {
    return (reinterpret_cast<uintptr_t>(handle) >> 4) % kNumShards;
  }
  Shard& ShardOf(const void* handle) { return shards_[IndexOf(handle)]; }
  const Shard& ShardOf(const void* handle) const { return shards_[IndexOf(handle)]; }

  static constexpr size_t kNumShards = 16;
  std::array<Shard, kNumShards> shards_;
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_HANDLE_TABLE_H_
