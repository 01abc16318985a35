// SPDX-License-Identifier: Apache-2.0
// Where a program called into these libraries, for reports about two places of its source.
#ifndef MLMARGIN_RUNTIME_CALL_SITE_H_
#define MLMARGIN_RUNTIME_CALL_SITE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace mlmargin::runtime {

class CallSite {
 public:
  CallSite() = default;  // Unknown.

  // That of the caller's callers; takes some microseconds.
  static CallSite Here() noexcept;

  // In a signal handler: that of the instruction at `address`, which the signal interrupted.
  static CallSite OfSignal(uintptr_t address) noexcept;

  bool known() const noexcept { return frames_[0] != nullptr; }

  // "train.cc:42" where there is debug information, else "main (train+0x1136)": the innermost place
  // outside of these libraries and the C library. Writes at most `size` bytes with the final 0 and
  // allocates nothing itself: fit for the report of a crash.
  void Describe(char* text, size_t size) const noexcept;
  std::string Describe() const;

  // The same for calls from the same place.
  const void* address() const noexcept;

 private:
  static constexpr size_t kMaxFrames = 24;
  std::array<void*, kMaxFrames> frames_{};  // Innermost first; the rest null.
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_CALL_SITE_H_
