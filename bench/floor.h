// SPDX-License-Identifier: Apache-2.0
// The floor of a measurement: the fastest way found to read the scores once and to write the mask
// with ordinary stores, on at most so many threads as the measured call may use. Stores past the
// caches are a floor apart: they are faster, but whoever reads the mask has to wait for memory.
#ifndef BENCH_FLOOR_H_
#define BENCH_FLOOR_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mlmargin::bench {

struct FloorWay {
  std::string name;           // "4 KiB blocks, 2 threads"
  std::function<void()> run;  // Reads and writes everything once.
  bool streamed;              // Stores past the caches.
};

// All ways for one range to read and one to write, on one thread and, where `threads` is more, on
// so many. Both ranges have `size` bytes and start on a multiple of kFloorAlignment; they must
// outlive the result. What runs leaves in `to` is unspecified.
std::vector<FloorWay> FloorWays(const std::byte* from, std::byte* to, size_t size, int threads);

}  // namespace mlmargin::bench

#endif  // BENCH_FLOOR_H_
