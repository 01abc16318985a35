// SPDX-License-Identifier: Apache-2.0
// How many threads this process has.
#ifndef MLMARGIN_TESTS_SUPPORT_THREADS_H_
#define MLMARGIN_TESTS_SUPPORT_THREADS_H_

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace mlmargin::testing {

// As the system counts them: the list of /proc/self/task ends early when a thread in it ends. 0 if
// that cannot be read. Needs no memory.
inline int NumThreads() {
  constexpr char kKey[] = "\nThreads:";
  char text[4096] = {};
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const bool read_some = read(file, text, sizeof(text) - 1) > 0;
  close(file);
  const char* const line = read_some ? std::strstr(text, kKey) : nullptr;
  return line == nullptr ? 0 : std::atoi(line + std::strlen(kKey));
}

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_SUPPORT_THREADS_H_
