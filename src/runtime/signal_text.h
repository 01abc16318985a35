// SPDX-License-Identifier: Apache-2.0
// Text for signal handlers.
#ifndef MLMARGIN_RUNTIME_SIGNAL_TEXT_H_
#define MLMARGIN_RUNTIME_SIGNAL_TEXT_H_

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mlmargin::runtime {

// Takes no memory and next to no stack, which printf does not promise. What does not fit is left
// out.
class SignalText {
 public:
  SignalText& Add(std::string_view text) noexcept {
    const size_t count = std::min(text.size(), text_.size() - size_);
    std::copy_n(text.data(), count, text_.data() + size_);
    size_ += count;
    return *this;
  }
  SignalText& AddNumber(uint64_t number) noexcept { return AddDigits(number, 10); }
  SignalText& AddAddress(uintptr_t address) noexcept { return Add("0x").AddDigits(address, 16); }

  // To standard error, what has been added since the last time.
  void Write() noexcept {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text_.data(), size_);
    size_ = 0;
  }

 private:
  SignalText& AddDigits(uint64_t number, uint64_t base) noexcept {
    std::array<char, 20> digits;  // 2^64 - 1 has as many.
    size_t first = digits.size();
    do {
      digits[--first] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
    return Add({digits.data() + first, digits.size() - first});
  }

  std::array<char, 2048> text_{};
  size_t size_ = 0;
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_SIGNAL_TEXT_H_
