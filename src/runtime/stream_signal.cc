// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream_signal.h"

#include <utility>

#include "runtime/stream.h"

namespace mlmargin::runtime {

Signal::Waiter::~Waiter() {
  if (signal_ == nullptr) return;
  const std::lock_guard lock(signal_->mutex_);
  Unlink(*this);
}

void Signal::Link(Waiter*& list, Waiter& waiter) {
  waiter.next_ = list;
  waiter.link_ = &list;
  if (list != nullptr) list->link_ = &waiter.next_;
  list = &waiter;
}

void Signal::Unlink(Waiter& waiter) {
  if (waiter.link_ == nullptr) return;
  *waiter.link_ = waiter.next_;
  if (waiter.next_ != nullptr) waiter.next_->link_ = waiter.link_;
  waiter.link_ = nullptr;
}

bool Signal::IsSet() const {
  const std::lock_guard lock(mutex_);
  return set_;
}

bool Signal::IsSetOrRegister(Waiter& waiter, const std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(mutex_);
  if (set_) return true;
  if (waiter.link_ == nullptr) {
    waiter.signal_ = this;
    waiter.stream_ = stream;
    Link(waiters_, waiter);
  }
  return false;
}

void Signal::Set() {
  std::unique_lock lock(mutex_);
  set_ = true;
  // A list of their own: who is poked, finds the signal cleared and waits again, waits for the next
  // Set. They may leave it meanwhile.
  Waiter* poked = std::exchange(waiters_, nullptr);
  if (poked != nullptr) poked->link_ = &poked;
  while (poked != nullptr) {
    std::shared_ptr<Stream> stream = poked->stream_.lock();
    Unlink(*poked);
    lock.unlock();
    if (stream != nullptr) stream->Poke();
    stream.reset();  // May end it.
    lock.lock();
  }
}

void Signal::Clear() {
  const std::lock_guard lock(mutex_);
  set_ = false;
}

}  // namespace mlmargin::runtime
