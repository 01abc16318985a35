// SPDX-License-Identifier: Apache-2.0
// An array on the heap that is kept while it is large enough.
#ifndef MLMARGIN_KERNEL_HEAP_ARRAY_H_
#define MLMARGIN_KERNEL_HEAP_ARRAY_H_

#include <cstddef>
#include <memory>
#include <new>

namespace mlmargin::kernel {

template <typename T>
class HeapArray {
 public:
  // Makes room for `count` elements of any value; what was there is lost. False when memory could
  // not be had.
  bool Reserve(size_t count) {
    if (count <= capacity_) return true;
    capacity_ = 0;
    data_.reset();  // First, to need no more than the larger of both.
    data_.reset(new (std::nothrow) T[count]);
    if (data_ == nullptr) return false;
    capacity_ = count;
    return true;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
  size_t capacity_ = 0;
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_HEAP_ARRAY_H_
