// SPDX-License-Identifier: Apache-2.0
#include "runtime/timestamp.h"

#include <fmt/format.h>  // core.h alone: a name that GCC and Clang mangle in two ways.

#include <chrono>
#include <ctime>

namespace mlmargin::runtime {
namespace {

using Clock = std::chrono::system_clock;

int64_t MicrosInSecond(Clock::time_point now) {
  return std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() %
         1'000'000;
}

}  // namespace

std::string LocalTimestamp() {
  const Clock::time_point now = Clock::now();
  const std::time_t seconds = Clock::to_time_t(now);
  std::tm local{};
  localtime_r(&seconds, &local);
  const int64_t micros = MicrosInSecond(now);
  return fmt::format("{:04}-{:02}-{:02}-{:02}:{:02}:{:02}.{:03}.{:03}", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     micros / 1000, micros % 1000);
}

void UtcTimestamp(char* text, size_t size) {
  namespace chrono = std::chrono;
  const Clock::time_point now = Clock::now();
  const auto day = chrono::floor<chrono::days>(now);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(chrono::floor<chrono::seconds>(now - day));
  const int64_t micros = MicrosInSecond(now);
  const auto end = fmt::format_to_n(
      text, size - 1, "{:04}-{:02}-{:02}-{:02}:{:02}:{:02}.{:03}.{:03}",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count(), micros / 1000, micros % 1000);
  *end.out = '\0';
}

}  // namespace mlmargin::runtime
