// SPDX-License-Identifier: Apache-2.0
// Devices and contexts: what is current for a thread, and what lives and dies with a device.
#ifndef MLMARGIN_RUNTIME_CONTEXT_H_
#define MLMARGIN_RUNTIME_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/handle_table.h"
#include "runtime/status.h"
#include "runtime/stream.h"

namespace mlmargin::runtime {

// A context of one device: its default stream, the streams made in it and its parameters.
class Context : public std::enable_shared_from_this<Context> {
 public:
  int32_t device_id() const { return device_id_; }
  const std::shared_ptr<Stream>& default_stream() const { return default_stream_; }
  void* default_stream_handle() const { return default_stream_handle_; }

  // Code of the failure that stopped this context (failure mode stop), 0 while it works: set by
  // the stream that failed, obeyed by every stream of the context.
  std::atomic<int32_t>& stop_code() { return stop_code_; }

 private:
  int32_t device_id_ = 0;
  std::shared_ptr<Stream> default_stream_;
  void* default_stream_handle_ = nullptr;
  std::atomic<int32_t> stop_code_ = 0;
};

// The calling thread's current context: 107002 when there is none, or when it was destroyed,
// reset or finalised, with a text that says which call is missing.
Status CurrentContext(std::shared_ptr<Context>* context);

// All streams of the process, default streams included, by handle.
HandleTable<Stream>& Streams();

// 100001 before aclInit or aclnnInit and after the last finalize.
Status CheckInitialized();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_CONTEXT_H_
