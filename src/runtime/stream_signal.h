// SPDX-License-Identifier: Apache-2.0
// A flag that streams wait for without holding a thread.
#ifndef MLMARGIN_RUNTIME_STREAM_SIGNAL_H_
#define MLMARGIN_RUNTIME_STREAM_SIGNAL_H_

#include <memory>
#include <mutex>

namespace mlmargin::runtime {

class Stream;

// Thread-safe. Its lock is taken inside a stream's, never the other way round: Set pokes the
// waiting streams with no lock held. Needs no memory, since a wait that could not be noted would
// never end.
class Signal {
 public:
  // A place in the list of those who wait for one signal, which must outlive it.
  class Waiter {
   public:
    Waiter() = default;
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

   private:
    friend class Signal;
    Signal* signal_ = nullptr;  // Once it has waited. The rest is guarded by the signal's lock.
    std::weak_ptr<Stream> stream_;
    Waiter* next_ = nullptr;
    Waiter** link_ = nullptr;  // What points to this one; null: not in the list.
  };

  bool IsSet() const;

  // True if set. If not, `stream` is poked at the next Set, once however often it asks with this
  // waiter before.
  bool IsSetOrRegister(Waiter& waiter, const std::shared_ptr<Stream>& stream);

  void Set();
  void Clear();

 private:
  static void Link(Waiter*& list, Waiter& waiter);
  static void Unlink(Waiter& waiter);

  mutable std::mutex mutex_;
  bool set_ = false;
  Waiter* waiters_ = nullptr;
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_STREAM_SIGNAL_H_
