// SPDX-License-Identifier: Apache-2.0
// How much memory a call takes for itself: this program's malloc and its relatives count.
#ifndef BENCH_MEMORY_H_
#define BENCH_MEMORY_H_

#include <cstdint>
#include <functional>
#include <optional>

namespace mlmargin::bench {

// The most bytes that were allocated at one time while `work` ran, over those before it, by all
// threads of the process. Memory that is mapped without malloc does not count. Nothing where
// malloc cannot be counted: without the GNU C library, or under a sanitizer.
std::optional<int64_t> PeakExtraBytes(const std::function<void()>& work);

}  // namespace mlmargin::bench

#endif  // BENCH_MEMORY_H_
