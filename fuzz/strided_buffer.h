// SPDX-License-Identifier: Apache-2.0
// A strided matrix in a heap block that ends with its last element, every other byte guarded.
#ifndef MLMARGIN_FUZZ_STRIDED_BUFFER_H_
#define MLMARGIN_FUZZ_STRIDED_BUFFER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fuzz_support.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::fuzz {

class StridedBuffer {
 public:
  enum class Use { kInput, kOutput };

  StridedBuffer(Provider& provider, Use use, int64_t rows, int64_t columns, size_t element_bytes)
      : rows_(rows), columns_(columns), bytes_(element_bytes) {
    PickStrides(provider, use);
    misalignment_ = provider.ConsumeIntegralInRange<size_t>(0, 8) % 8;
    const bool empty = rows == 0 || columns == 0;
    const int64_t last = empty ? -1 : Index(rows - 1, columns - 1);
    // One byte at least: without any there is no address, which means that nothing is asked for.
    buffer_.assign(std::max<size_t>(1, misalignment_ + static_cast<size_t>(last + 1) * bytes_),
                   kGuard);
    buffer_.shrink_to_fit();
  }

  void Set(int64_t n, int64_t i, uint64_t bits) { std::memcpy(At(n, i), &bits, bytes_); }
  uint64_t Get(int64_t n, int64_t i) {
    uint64_t bits = 0;
    std::memcpy(&bits, At(n, i), bytes_);
    return bits;
  }

  void* data() { return buffer_.data() + misalignment_; }
  Matrix matrix() { return {data(), row_stride_, column_stride_}; }
  ConstMatrix const_matrix() { return {data(), row_stride_, column_stride_}; }

  bool IsUntouched() const {
    return std::count(buffer_.begin(), buffer_.end(), kGuard) == std::ssize(buffer_);
  }
  // The elements, row-major; the buffer is as new afterwards, unless more was written.
  std::vector<uint64_t> Take() {
    std::vector<uint64_t> elements;
    for (int64_t n = 0; n < rows_; ++n) {
      for (int64_t i = 0; i < columns_; ++i) elements.push_back(Get(n, i));
    }
    for (int64_t n = 0; n < rows_; ++n) {
      for (int64_t i = 0; i < columns_; ++i) std::memset(At(n, i), kGuard, bytes_);
    }
    if (!IsUntouched()) Fail("a byte between the elements of an output was written");
    return elements;
  }

 private:
  static constexpr unsigned char kGuard = 0xA5;

  void PickStrides(Provider& provider, Use use) {
    const auto step = provider.ConsumeIntegralInRange<int64_t>(1, 3);
    const auto extra = provider.ConsumeIntegralInRange<int64_t>(0, 5);
    switch (provider.ConsumeIntegralInRange<int>(0, use == Use::kInput ? 4 : 2)) {
      case 1:  // Transposed.
        column_stride_ = rows_ * step + extra;
        row_stride_ = step;
        break;
      case 3:  // One row for all.
        column_stride_ = step;
        row_stride_ = 0;
        break;
      case 4:  // Windows that overlap, or one element for all.
        column_stride_ = step - 1;
        row_stride_ = 1;
        break;
      default:
        column_stride_ = step;
        row_stride_ = columns_ * step + extra;
    }
  }

  int64_t Index(int64_t n, int64_t i) const { return n * row_stride_ + i * column_stride_; }
  unsigned char* At(int64_t n, int64_t i) {
    return buffer_.data() + misalignment_ + static_cast<size_t>(Index(n, i)) * bytes_;
  }

  int64_t rows_, columns_;
  size_t bytes_;
  int64_t row_stride_ = 0, column_stride_ = 1;
  size_t misalignment_ = 0;
  std::vector<unsigned char> buffer_;
};

}  // namespace mlmargin::fuzz

#endif  // MLMARGIN_FUZZ_STRIDED_BUFFER_H_
