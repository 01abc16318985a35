// SPDX-License-Identifier: Apache-2.0
// Process-wide state that outlives all threads, since nothing ever destroys it.
#ifndef MLMARGIN_RUNTIME_NEVER_DESTROYED_H_
#define MLMARGIN_RUNTIME_NEVER_DESTROYED_H_

#include <cstddef>
#include <new>
#include <utility>

namespace mlmargin::runtime {

// For a static object of a function. Unlike one on the heap it can always be had: a call that gives
// something back may be the first that looks into a table.
template <typename T>
class NeverDestroyed {
 public:
  template <typename... Arguments>
  explicit NeverDestroyed(Arguments&&... arguments) {
    ::new (storage_) T(std::forward<Arguments>(arguments)...);
  }
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  T& get() { return *std::launder(reinterpret_cast<T*>(storage_)); }

 private:
  alignas(T) std::byte storage_[sizeof(T)];
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_NEVER_DESTROYED_H_
