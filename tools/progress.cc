// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace mlmargin::tools {

Progress::Progress(std::string what, int64_t total)
    : what_(std::move(what)), total_(total), on_terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::Set(int64_t done) {
  constexpr auto kRefresh = std::chrono::milliseconds(200);
  constexpr int64_t kWidth = 30;
  const Clock::time_point now = Clock::now();
  if (!on_terminal_ || total_ <= 0 || done <= 0 || now - last_ < kRefresh) return;
  last_ = now;
  drawn_ = true;
  const std::chrono::duration<double> spent = now - start_;
  const auto share = static_cast<double>(done) / static_cast<double>(total_);
  const auto filled = static_cast<size_t>(share * kWidth);
  fmt::print(stderr, "\r{} [{}{}] {:3.0f} %, {:.0f} s left\x1b[K", what_, std::string(filled, '#'),
             std::string(kWidth - filled, ' '), share * 100, spent.count() * (1 / share - 1));
  std::fflush(stderr);
}

}  // namespace mlmargin::tools
