// SPDX-License-Identifier: Apache-2.0
// A flag that streams wait for without holding a thread.
#ifndef MLMARGIN_RUNTIME_STREAM_SIGNAL_H_
#define MLMARGIN_RUNTIME_STREAM_SIGNAL_H_

#include <memory>
#include <mutex>
#include <vector>

namespace mlmargin::runtime {

class Stream;

// Thread-safe. Its lock is taken inside a stream's, never the other way round: Set pokes the
// waiting streams with no lock held.
class Signal {
 public:
  bool IsSet() const;

  // True if set. If not, `waiter` is poked at the next Set; asking again does not add it twice.
  bool IsSetOrRegister(const std::shared_ptr<Stream>& waiter);

  void Set();
  void Clear();

 private:
  mutable std::mutex mutex_;
  bool set_ = false;
  std::vector<std::weak_ptr<Stream>> waiters_;
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_STREAM_SIGNAL_H_
