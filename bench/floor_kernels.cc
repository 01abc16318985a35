// SPDX-License-Identifier: Apache-2.0
#include "floor_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>

// Scalable vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "floor_kernels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mlmargin::bench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<uint32_t> kTag;
using Vector = hn::VFromD<decltype(kTag)>;

// Eight sums that do not wait for one another. The rest of a range that is no whole step is for
// its caller.
class Reader {
 public:
  // Written out, since GCC gives a constructor of its own making the wrong target.
  Reader() { a_ = b_ = c_ = d_ = e_ = f_ = g_ = h_ = hn::Zero(kTag); }

  static size_t StepBytes() { return 8 * VectorBytes(); }

  void ReadStep(const std::byte* from) {
    const auto* const p = reinterpret_cast<const uint32_t*>(from);
    const size_t n = hn::Lanes(kTag);
    a_ = hn::Xor(a_, hn::Load(kTag, p));
    b_ = hn::Xor(b_, hn::Load(kTag, p + n));
    c_ = hn::Xor(c_, hn::Load(kTag, p + 2 * n));
    d_ = hn::Xor(d_, hn::Load(kTag, p + 3 * n));
    e_ = hn::Xor(e_, hn::Load(kTag, p + 4 * n));
    f_ = hn::Xor(f_, hn::Load(kTag, p + 5 * n));
    g_ = hn::Xor(g_, hn::Load(kTag, p + 6 * n));
    h_ = hn::Xor(h_, hn::Load(kTag, p + 7 * n));
  }

  uint32_t Result() const {
    const Vector all = hn::Xor(hn::Xor(hn::Xor(a_, b_), hn::Xor(c_, d_)),
                               hn::Xor(hn::Xor(e_, f_), hn::Xor(g_, h_)));
    HWY_ALIGN uint32_t lanes[HWY_LANES(uint32_t)];
    hn::Store(all, kTag, lanes);
    uint32_t result = 0;
    for (size_t i = 0; i < hn::Lanes(kTag); ++i) result ^= lanes[i];
    return result;
  }

 private:
  static size_t VectorBytes() { return hn::Lanes(kTag) * sizeof(uint32_t); }

  Vector a_, b_, c_, d_, e_, f_, g_, h_;
};

uint32_t ReadRest(const std::byte* from, size_t size) {
  uint32_t sum = 0;
  for (size_t i = 0; i < size; ++i) sum += std::to_integer<uint32_t>(from[i]);
  return sum;
}

template <bool kAroundCache>
void ZeroStep(std::byte* to) {
  auto* const p = reinterpret_cast<uint32_t*>(to);
  const size_t n = hn::Lanes(kTag);
  for (size_t i = 0; i < 8; ++i) {
    if constexpr (kAroundCache) {
      hn::Stream(hn::Zero(kTag), kTag, p + i * n);
    } else {
      hn::Store(hn::Zero(kTag), kTag, p + i * n);
    }
  }
}

// Loads and stores in turns.
template <bool kAroundCache>
uint32_t Interleaved(const std::byte* from, std::byte* to, size_t size) {
  Reader reader;
  const size_t step = Reader::StepBytes();
  size_t i = 0;
  for (; i + step <= size; i += step) {
    reader.ReadStep(from + i);
    ZeroStep<kAroundCache>(to + i);
  }
  std::memset(to + i, 0, size - i);
  if constexpr (kAroundCache) hwy::FlushStream();
  return reader.Result() + ReadRest(from + i, size - i);
}

// Reads a block, then clears one with the C library.
template <size_t kBlock>
uint32_t Blocks(const std::byte* from, std::byte* to, size_t size) {
  Reader reader;
  const size_t step = Reader::StepBytes();
  uint32_t rest = 0;
  for (size_t begin = 0; begin < size; begin += kBlock) {
    const size_t block = std::min(kBlock, size - begin);
    size_t i = 0;
    for (; i + step <= block; i += step) reader.ReadStep(from + begin + i);
    rest += ReadRest(from + begin + i, block - i);
    std::memset(to + begin, 0, block);
  }
  return reader.Result() + rest;
}

uint32_t InterleavedOnTarget(const std::byte* from, std::byte* to, size_t size) {
  return Interleaved<false>(from, to, size);
}
uint32_t StreamedOnTarget(const std::byte* from, std::byte* to, size_t size) {
  return Interleaved<true>(from, to, size);
}
uint32_t SmallBlocksOnTarget(const std::byte* from, std::byte* to, size_t size) {
  return Blocks<size_t{4} << 10>(from, to, size);
}
uint32_t LargeBlocksOnTarget(const std::byte* from, std::byte* to, size_t size) {
  return Blocks<size_t{256} << 10>(from, to, size);
}

}  // namespace
}  // namespace mlmargin::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlmargin::bench {
namespace {

HWY_EXPORT(InterleavedOnTarget);
HWY_EXPORT(StreamedOnTarget);
HWY_EXPORT(SmallBlocksOnTarget);
HWY_EXPORT(LargeBlocksOnTarget);

uint32_t RunInterleaved(const std::byte* from, std::byte* to, size_t size) {
  return HWY_DYNAMIC_DISPATCH(InterleavedOnTarget)(from, to, size);
}
uint32_t RunStreamed(const std::byte* from, std::byte* to, size_t size) {
  return HWY_DYNAMIC_DISPATCH(StreamedOnTarget)(from, to, size);
}
uint32_t RunSmallBlocks(const std::byte* from, std::byte* to, size_t size) {
  return HWY_DYNAMIC_DISPATCH(SmallBlocksOnTarget)(from, to, size);
}
uint32_t RunLargeBlocks(const std::byte* from, std::byte* to, size_t size) {
  return HWY_DYNAMIC_DISPATCH(LargeBlocksOnTarget)(from, to, size);
}

// The C library's copy moves the same bytes; should it be faster than all of the above, it is the
// floor.
uint32_t RunCopy(const std::byte* from, std::byte* to, size_t size) {
  std::memcpy(to, from, size);
  return std::to_integer<uint32_t>(to[size / 2]);
}

constexpr std::array kKernels = {FloorKernel{"ordinary stores", RunInterleaved, false},
                                 FloorKernel{"4 KiB blocks", RunSmallBlocks, false},
                                 FloorKernel{"256 KiB blocks", RunLargeBlocks, false},
                                 FloorKernel{"memcpy", RunCopy, false},
                                 FloorKernel{"non-temporal stores", RunStreamed, true}};

}  // namespace

std::span<const FloorKernel> FloorKernels() { return kKernels; }

}  // namespace mlmargin::bench
#endif  // HWY_ONCE
