// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string_view>

#include "mlmargin/settings.h"
#include "mlmargin/version.h"

namespace mlmargin::bench {
namespace {

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

// "6.1" of "6.1.0-13-amd64": the rest says nothing to others.
std::string MajorAndMinor(std::string_view release) {
  const size_t dot = release.find('.');
  if (dot == std::string_view::npos) return std::string(release);
  return std::string(release.substr(0, release.find_first_not_of("0123456789", dot + 1)));
}

std::string Compiler() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

int64_t SystemValue(int name) { return std::max(sysconf(name), 0L); }

}  // namespace

Machine DescribeMachine() {
  utsname system = {};
  uname(&system);
  Machine machine = {};
  machine.architecture = system.machine;
  machine.kernel = fmt::format("{} {}", system.sysname, MajorAndMinor(system.release));
  machine.cpu = CpuModel();
  if (machine.cpu.empty()) machine.cpu = machine.architecture;
  machine.cpus = NumThreads();
#ifdef _SC_LEVEL2_CACHE_SIZE
  machine.l2_bytes = SystemValue(_SC_LEVEL2_CACHE_SIZE);
  machine.l3_bytes = SystemValue(_SC_LEVEL3_CACHE_SIZE);
#endif
  machine.memory_bytes = SystemValue(_SC_PHYS_PAGES) * SystemValue(_SC_PAGESIZE);
  machine.compiler = Compiler();
  machine.build_type = BENCH_BUILD_TYPE;
  machine.target = Target();
  machine.version = fmt::format("{}.{}.{}", MLMARGIN_VERSION_MAJOR, MLMARGIN_VERSION_MINOR,
                                MLMARGIN_VERSION_PATCH);
  machine.date = fmt::format(
      "{:%Y-%m-%d}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  return machine;
}

}  // namespace mlmargin::bench
