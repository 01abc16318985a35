// SPDX-License-Identifier: Apache-2.0
// Contexts: what is current for a thread, and what lives and dies with a context.
#ifndef MLMARGIN_RUNTIME_CONTEXT_H_
#define MLMARGIN_RUNTIME_CONTEXT_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/handle_table.h"
#include "runtime/status.h"
#include "runtime/stream.h"

namespace mlmargin::runtime {

// A context of one device: its default stream, the streams made in it and its parameters.
class Context : public std::enable_shared_from_this<Context> {
 public:
  enum class Kind { kPrimary, kExplicit };

  // Makes a context with its default stream and puts both into their tables.
  static Status Create(int32_t device_id, Kind kind, std::shared_ptr<Context>* context);

  int32_t device_id() const { return device_id_; }
  Kind kind() const { return kind_; }
  void* handle() const { return handle_; }
  const std::shared_ptr<Stream>& default_stream() const { return default_stream_; }
  void* default_stream_handle() const { return default_stream_handle_; }

  // Code of the failure that stopped this context (failure mode stop), 0 while it works: set by
  // the stream that failed, obeyed by every stream of the context.
  std::atomic<int32_t>& stop_code() { return stop_code_; }

  // Option values (aclSysParamOpt 0..2), empty if never set.
  std::optional<int64_t> option(size_t index) const;
  void set_option(size_t index, int64_t value);

  // True once the context was destroyed, or its device reset or finalised.
  bool released() const { return released_.load(std::memory_order_acquire); }

  // Marks the context released and closes its streams, whose handles die at once. Waits for the
  // work in them (kDrain), or drops what is queued and waits for nothing (kDrop); no lock is held
  // meanwhile. Of two racing calls one does it.
  void Release(Stream::CloseMode mode);

 private:
  static constexpr size_t kNumOptions = 3;

  int32_t device_id_ = 0;
  Kind kind_ = Kind::kPrimary;
  void* handle_ = nullptr;
  std::shared_ptr<Stream> default_stream_;
  void* default_stream_handle_ = nullptr;
  std::atomic<int32_t> stop_code_ = 0;
  std::atomic<bool> released_ = false;
  mutable std::mutex options_mutex_;
  std::array<std::optional<int64_t>, kNumOptions> options_;
};

// The calling thread's current context: 107002 when there is none, or when it was destroyed,
// reset or finalised, with a text that says which call is missing.
Status CurrentContext(std::shared_ptr<Context>* context);

// Makes a context current for the calling thread; null leaves the thread without one.
void SetCurrentContextHandle(void* handle);

// All contexts of the process by handle. A released explicit context stays until it is destroyed
// or the runtime finalised, so that its owner can still destroy it.
HandleTable<Context>& Contexts();

// All streams of the process, default streams included, by handle.
HandleTable<Stream>& Streams();

// 100001 before aclInit or aclnnInit and after the last finalize.
Status CheckInitialized();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_CONTEXT_H_
