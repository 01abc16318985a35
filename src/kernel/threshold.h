// SPDX-License-Identifier: Apache-2.0
// The threshold t = x - 1 of a label with score x: the hinge of a class with score y is
// max(0, y - t). Neither float nor double holds t in general.
#ifndef MLMARGIN_KERNEL_THRESHOLD_H_
#define MLMARGIN_KERNEL_THRESHOLD_H_

#include <bit>
#include <cstdint>

namespace mlmargin::kernel {

// The largest float that is not above score - 1, so that y > score - 1 for a float y exactly when
// y > FloorThreshold(score). `score` is not NaN. The rounding error of the float difference is a
// float itself (Knuth's TwoSum: D. E. Knuth, The Art of Computer Programming, vol. 2, 4.2.2).
inline float FloorThreshold(float score) {
  const float rounded = score - 1.0f;
  const float score_part = rounded + 1.0f;
  const float one_part = score_part - rounded;
  const float lost = (score - score_part) + (one_part - 1.0f);
  // One float down if the rounding went up; a branch would be a guess. Rounding up to 0 is
  // impossible: near 1 the difference is exact. With an infinite score `lost` is NaN.
  const auto bits = std::bit_cast<uint32_t>(rounded);
  const uint32_t down = (bits >> 31 << 1) - 1;  // Of a positive number -1, of a negative one +1.
  return std::bit_cast<float>(bits + down * static_cast<uint32_t>(lost < 0));
}

// The same for double.
inline double FloorThreshold(double score) {
  const double rounded = score - 1.0;
  const double score_part = rounded + 1.0;
  const double one_part = score_part - rounded;
  const double lost = (score - score_part) + (one_part - 1.0);
  const auto bits = std::bit_cast<uint64_t>(rounded);
  const uint64_t down = (bits >> 63 << 1) - 1;
  return std::bit_cast<double>(bits + down * static_cast<uint64_t>(lost < 0));
}

// -t = 1 - score as an unevaluated sum, without any error for a finite score: `high` is the
// rounded difference, `low` what the rounding lost (TwoSum again). So the hinge of y is
// (high + y) + low: when the first sum cancels it is exact (Sterbenz) and `low` enters unharmed,
// else `low` is far below it; the relative error is at most 2^-52.
struct NegatedThreshold {
  double high;
  double low;

  explicit NegatedThreshold(float score) {
    const auto x = static_cast<double>(score);
    high = 1.0 - x;
    const double score_part = 1.0 - high;
    const double one_part = high + score_part;
    low = (1.0 - one_part) + (score_part - x);
  }
};

// Whether NegatedThreshold(score).low may not be zero. It is where no bit of the score is below
// 2^-52 and none of 1 is lost.
inline bool MayHaveLow(float score) {
  constexpr uint32_t kLeast = (127u - 29) << 23, kMost = (127u + 52) << 23;
  const uint32_t magnitude = std::bit_cast<uint32_t>(score) & 0x7FFFFFFFu;
  return (magnitude - kLeast >= kMost - kLeast) & (magnitude != 0);
}

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_THRESHOLD_H_
