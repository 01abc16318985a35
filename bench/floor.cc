// SPDX-License-Identifier: Apache-2.0
#include "floor.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "floor_kernels.h"

namespace mlmargin::bench {
namespace {

// Keeps what the functions return from being optimised away, and shows the thread sanitizer, which
// does not look into oneTBB, that a part begins after its call and ends before it.
std::atomic<uint32_t> sink = 0;

// Equal parts, a page apart at least; the same thread gets the same part again, as far as oneTBB
// has its way, and finds it in its cache.
void RunOnThreads(FloorFunction run, const std::byte* from, std::byte* to, size_t size, int threads,
                  tbb::task_arena* arena) {
  constexpr size_t kPage = 4096;
  const size_t pages = (size + kPage - 1) / kPage;
  const auto parts = static_cast<size_t>(threads);
  const auto run_part = [=](size_t part) {
    static_cast<void>(sink.load(std::memory_order_acquire));
    const size_t begin = std::min(size, pages * part / parts * kPage);
    const size_t end = std::min(size, pages * (part + 1) / parts * kPage);
    const uint32_t result = begin < end ? run(from + begin, to + begin, end - begin) : 0;
    sink.fetch_xor(result, std::memory_order_release);
  };
  sink.fetch_xor(1, std::memory_order_release);
  arena->execute([&] { tbb::parallel_for(size_t{0}, parts, run_part, tbb::static_partitioner()); });
  static_cast<void>(sink.load(std::memory_order_acquire));
}

}  // namespace

std::vector<FloorWay> FloorWays(const std::byte* from, std::byte* to, size_t size, int threads) {
  std::vector<FloorWay> ways;
  for (const FloorKernel& kernel : FloorKernels()) {
    ways.push_back({fmt::format("{}, 1 thread", kernel.name),
                    [run = kernel.run, from, to, size] {
                      sink.store(run(from, to, size), std::memory_order_relaxed);
                    },
                    kernel.streamed});
  }
  if (threads < 2) return ways;
  const auto arena = std::make_shared<tbb::task_arena>(threads);
  for (const FloorKernel& kernel : FloorKernels()) {
    ways.push_back({fmt::format("{}, {} threads", kernel.name, threads),
                    [run = kernel.run, from, to, size, threads, arena] {
                      RunOnThreads(run, from, to, size, threads, arena.get());
                    },
                    kernel.streamed});
  }
  return ways;
}

}  // namespace mlmargin::bench
