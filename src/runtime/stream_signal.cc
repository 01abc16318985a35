// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream_signal.h"

#include <algorithm>
#include <utility>

#include "runtime/stream.h"

namespace mlmargin::runtime {

bool Signal::IsSet() const {
  const std::lock_guard lock(mutex_);
  return set_;
}

bool Signal::IsSetOrRegister(const std::shared_ptr<Stream>& waiter) {
  const std::lock_guard lock(mutex_);
  if (set_) return true;
  const bool known = std::any_of(waiters_.begin(), waiters_.end(), [&](const auto& other) {
    return !other.owner_before(waiter) && !waiter.owner_before(other);
  });
  if (!known) waiters_.push_back(waiter);
  return false;
}

void Signal::Set() {
  std::vector<std::weak_ptr<Stream>> waiters;
  {
    const std::lock_guard lock(mutex_);
    set_ = true;
    waiters.swap(waiters_);
  }
  for (const std::weak_ptr<Stream>& waiter : waiters) {
    if (const std::shared_ptr<Stream> stream = waiter.lock()) stream->Poke();
  }
}

void Signal::Clear() {
  const std::lock_guard lock(mutex_);
  set_ = false;
}

}  // namespace mlmargin::runtime
