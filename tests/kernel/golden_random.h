// SPDX-License-Identifier: Apache-2.0
#ifndef MLMARGIN_TESTS_KERNEL_GOLDEN_RANDOM_H_
#define MLMARGIN_TESTS_KERNEL_GOLDEN_RANDOM_H_

#include <cstdint>

namespace mlmargin::testing {

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
class GoldenRandom {
 public:
  explicit GoldenRandom(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(Next() % static_cast<uint64_t>(limit));
  }

 private:
  uint64_t state_;
};

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_KERNEL_GOLDEN_RANDOM_H_
