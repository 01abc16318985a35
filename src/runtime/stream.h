// SPDX-License-Identifier: Apache-2.0
// A stream: a queue of tasks that run in order on a worker thread of its own.
#ifndef MLMARGIN_RUNTIME_STREAM_H_
#define MLMARGIN_RUNTIME_STREAM_H_

#include <cstdint>
#include <memory>

#include "runtime/private_api.h"
#include "runtime/status.h"

namespace mlmargin::runtime {

class Context;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // A stream of `context`; its worker starts with the first task. 207008 past the limit.
  static Status Create(const std::shared_ptr<Context>& context, uint32_t priority, uint32_t flags,
                       std::shared_ptr<Stream>* stream);

  // Waits until the tasks enqueued before the call are done; returns the first failure since the
  // last wait. timeout_ms: -1 for ever, 0 checks at once; 507046 when it expires. A wait without
  // time-out may run device tasks of this stream on the calling thread, never host functions.
  Status Synchronize(int32_t timeout_ms);

  // Bars new tasks. Drain waits for the queued ones; Drop discards those not yet started.
  enum class CloseMode { kDrain, kDrop };
  void Close(CloseMode mode);
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_STREAM_H_
