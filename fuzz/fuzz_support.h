// SPDX-License-Identifier: Apache-2.0
// What the fuzzers share: the end of a failed one, and sizes, scores and labels from a few bytes.
#ifndef MLMARGIN_FUZZ_FUZZ_SUPPORT_H_
#define MLMARGIN_FUZZ_FUZZ_SUPPORT_H_

#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/exact_loss.h"

namespace mlmargin::fuzz {

using Provider = FuzzedDataProvider;

// Says what is wrong and aborts, which the fuzzer reports with the input.
[[noreturn]] void Fail(const std::string& what);

// True once in `n`; never when the input is used up, so that a short input means an ordinary call.
inline bool OneIn(Provider& provider, uint8_t n) {
  return provider.ConsumeIntegralInRange<uint8_t>(0, static_cast<uint8_t>(n - 1)) == n - 1;
}

template <typename T, size_t kCount>
T Pick(Provider& provider, const T (&choices)[kCount]) {
  return choices[provider.ConsumeIntegralInRange<size_t>(0, kCount - 1)];
}

// SplitMix64: a large matrix from a seed in the input.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  uint64_t Below(uint64_t bound) { return Next() % bound; }

 private:
  uint64_t state_;
};

// Few elements in most shapes; also rows longer than the kernel's blocks, and many rows.
struct Shape {
  int64_t rows = 0;
  int64_t classes = 1;
};
Shape PickShape(Provider& provider);

// How scores are laid out in bits: a format of tests/support, or float64.
struct ScoreFormat {
  const testing::FloatFormat* narrow = nullptr;  // Null: float64.

  size_t bytes() const { return narrow == nullptr ? 8 : static_cast<size_t>(narrow->bits) / 8; }
  int mantissa_bits() const { return narrow == nullptr ? 52 : narrow->mantissa_bits; }
  int max_exponent() const { return narrow == nullptr ? 1023 : narrow->max_exponent; }
  uint64_t Encode(double value) const;  // Towards zero.
  double Decode(uint64_t bits) const;
};

// Bit patterns of scores: ties and cancellations, special values, or any.
class ScoreSource {
 public:
  ScoreSource(Provider& provider, ScoreFormat format);
  uint64_t Next();

 private:
  ScoreFormat format_;
  Random random_;
  bool any_bits_;
  std::vector<uint64_t> palette_;
};

// Entries of label lists of one density.
class LabelSource {
 public:
  LabelSource(Provider& provider, const Shape& shape);
  // One row's list, filled up to `columns` entries, of which those behind the -1 mean nothing.
  std::vector<int64_t> NextRow(int64_t columns);

 private:
  int64_t NextEntry();

  int64_t classes_;
  Random random_;
  uint64_t bad_one_in_;
  int64_t most_;
};

// Whether `got` is within one unit in the last place of the exact value, in the format.
bool IsWithinOneUlp(ScoreFormat format, const testing::ExactValue& exact, double got);

}  // namespace mlmargin::fuzz

#endif  // MLMARGIN_FUZZ_FUZZ_SUPPORT_H_
