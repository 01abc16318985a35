// SPDX-License-Identifier: Apache-2.0
// Ways to read one range of bytes once and to fill another of the same size: the memory traffic
// that no implementation of the loss with a mask avoids. Which way is fastest depends on the
// machine and on the cache that holds the data, so all are measured and the best one counts; the
// best one that stores past the caches counts apart.
#ifndef BENCH_FLOOR_KERNELS_H_
#define BENCH_FLOOR_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace mlmargin::bench {

// Reads `size` bytes at `from`, writes as many at `to`; both start on a multiple of
// kFloorAlignment. Returns something that hangs on every byte read, so that no read can be left
// out.
using FloorFunction = uint32_t (*)(const std::byte* from, std::byte* to, size_t size);

inline constexpr size_t kFloorAlignment = 64;

struct FloorKernel {
  const char* name;
  FloorFunction run;
  bool streamed;  // Stores past the caches.
};

// Uses the machine's widest vectors. The functions run on the calling thread.
std::span<const FloorKernel> FloorKernels();

}  // namespace mlmargin::bench

#endif  // BENCH_FLOOR_KERNELS_H_
