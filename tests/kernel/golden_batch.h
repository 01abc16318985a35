// SPDX-License-Identifier: Apache-2.0
// Makes the inputs of the cases of golden_cases.h, with integers alone: neither the mathematics
// library nor the standard distributions are the same everywhere.
#ifndef MLMARGIN_TESTS_KERNEL_GOLDEN_BATCH_H_
#define MLMARGIN_TESTS_KERNEL_GOLDEN_BATCH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "golden_cases.h"

namespace mlmargin::testing {

// The inputs of a case as the kernel reads them, rows one behind the other.
struct GoldenBatch {
  int64_t label_columns = 0;
  std::vector<unsigned char> scores;
  std::vector<unsigned char> labels;
};
GoldenBatch MakeGoldenBatch(const GoldenCase& golden);

// FNV-1a, 64 bits; `hash` is what came before.
inline constexpr uint64_t kEmptyHash = 0xCBF29CE484222325u;
uint64_t HashBytes(std::span<const unsigned char> bytes, uint64_t hash);

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_KERNEL_GOLDEN_BATCH_H_
