// SPDX-License-Identifier: Apache-2.0
// The one door to the thread pool.
#ifndef MLMARGIN_KERNEL_PARALLEL_FOR_H_
#define MLMARGIN_KERNEL_PARALLEL_FOR_H_

#include <cstdint>
#include <functional>

namespace mlmargin::kernel {

// The CPUs this process may run on.
int AvailableCpus();

// Calls body(begin, end) for disjoint ranges that cover [0, count), each of at most `grain`
// elements, on up to `threads` threads, the caller's among them; returns when all are done.
// `body` must not throw; it runs in the default floating-point environment. With one thread, or
// one range, everything runs on the calling thread. Which thread gets which range is open.
void ParallelFor(int64_t count, int64_t grain, int threads,
                 const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_PARALLEL_FOR_H_
