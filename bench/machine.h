// SPDX-License-Identifier: Apache-2.0
// What a figure hangs on besides the code.
#ifndef BENCH_MACHINE_H_
#define BENCH_MACHINE_H_

#include <cstdint>
#include <string>

namespace mlmargin::bench {

struct Machine {
  std::string cpu;  // The model's name, or the architecture where it has none.
  int cpus;         // That this process may run on.
  std::string architecture;
  std::string kernel;
  int64_t l2_bytes, l3_bytes;  // 0 where unknown.
  int64_t memory_bytes;
  std::string compiler;
  std::string build_type;
  std::string target;  // SIMD instructions in use.
  std::string version;
  std::string date;  // UTC.
};

Machine DescribeMachine();

}  // namespace mlmargin::bench

#endif  // BENCH_MACHINE_H_
