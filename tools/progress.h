// SPDX-License-Identifier: Apache-2.0
// A bar on standard error, if that is a terminal and the work takes longer than a blink.
#ifndef TOOLS_PROGRESS_H_
#define TOOLS_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <string>

namespace mlmargin::tools {

class Progress {
 public:
  Progress(std::string what, int64_t total);
  ~Progress();  // Wipes the bar away.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Set(int64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  const std::string what_;
  const int64_t total_;
  const bool on_terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  bool drawn_ = false;
};

}  // namespace mlmargin::tools

#endif  // TOOLS_PROGRESS_H_
