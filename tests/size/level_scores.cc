// SPDX-License-Identifier: Apache-2.0
#include "size/level_scores.h"

#include <cstring>
#include <optional>
#include <random>
#include <vector>

namespace mlmargin::testing {
namespace {

constexpr int kOne = 64;  // Levels in a margin.

template <typename Bits>
void Fill(const FloatFormat& format, uint64_t seed, int64_t count, Bits* scores) {
  std::array<Bits, kLevels> bits;
  for (int a = 0; a < kLevels; ++a) {
    bits[static_cast<size_t>(a)] = static_cast<Bits>(LevelBits(format, a));
  }
  std::mt19937_64 random(seed);
  for (int64_t i = 0; i < count;) {
    uint64_t levels = random();
    for (int k = 0; k < 8 && i < count; ++k, ++i, levels >>= 8) scores[i] = bits[levels & 255];
  }
}

}  // namespace

uint32_t LevelBits(const FloatFormat& format, int level) {
  return EncodeNear(format, (level - 128) / 64.0);
}

int LevelOf(const FloatFormat& format, uint32_t bits) {
  return static_cast<int>(Decode(format, bits) * 64) + 128;
}

void LevelRow::AddOthers(const LevelRow& row, int64_t times) {
  for (size_t a = 0; a < kLevels; ++a) others_[a] += times * row.others_[a];
}

ExactValue LevelRow::Sum() const {
  ExactValue sum;
  for (int a = 0; a < kLevels; ++a) {
    mpz_class hinges = 0;
    for (int b = 0; b < kLevels; ++b) {
      const int hinge = kOne - a + b;
      if (hinge > 0) hinges += mpz_class(others_[static_cast<size_t>(b)]) * hinge;
    }
    sum.value += mpq_class(hinges * labels_[static_cast<size_t>(a)]);
  }
  return sum / kOne;
}

int64_t LevelRow::ActiveOthers(int label_level) const {
  int64_t active = 0;
  for (int b = 0; b < kLevels; ++b) {
    if (kOne - label_level + b > 0) active += others_[static_cast<size_t>(b)];
  }
  return active;
}

int64_t LevelRow::ActiveLabels(int other_level) const {
  int64_t active = 0;
  for (int a = 0; a < kLevels; ++a) {
    if (kOne - a + other_level > 0) active += labels_[static_cast<size_t>(a)];
  }
  return active;
}

void FillLevels(const FloatFormat& format, uint64_t seed, int64_t count, void* scores) {
  if (format.bits == 32) {
    Fill(format, seed, count, static_cast<uint32_t*>(scores));
  } else {
    Fill(format, seed, count, static_cast<uint16_t*>(scores));
  }
}

uint32_t BitsAt(const FloatFormat& format, const void* data, int64_t index) {
  const auto bytes = static_cast<size_t>(format.bits / 8);
  uint32_t bits = 0;  // Little-endian.
  std::memcpy(&bits, static_cast<const char*>(data) + static_cast<size_t>(index) * bytes, bytes);
  return bits;
}

LevelRow ReadLevels(const FloatFormat& format, const void* scores, int64_t classes) {
  // Eight significant bits leave the low half of a float zero.
  const int shift = format.bits - 16;
  std::vector<int64_t> counts(size_t{1} << 16);
  for (int64_t i = 0; i < classes; ++i) ++counts[BitsAt(format, scores, i) >> shift];
  LevelRow row;
  for (int a = 0; a < kLevels; ++a) row.AddOthers(a, counts[LevelBits(format, a) >> shift]);
  return row;
}

void SetLabels(const FloatFormat& format, const void* scores, const LabelCounts& labels,
               LevelRow* row) {
  for (const auto& [label, times] : labels) {
    const int level = LevelOf(format, BitsAt(format, scores, label));
    row->AddLabels(level, times);
    row->AddOthers(level, -1);
  }
}

int64_t FindWrongGradient(const FloatFormat& format, const LevelRow& row, int64_t classes,
                          const LabelCounts& labels, const void* scores, const void* gradient,
                          double grad_loss, int64_t begin, int64_t end) {
  const auto is_right = [&](int64_t pairs, uint32_t bits) {
    ExactValue exact;
    exact.value = mpq_class(mpz_class(pairs), mpz_class(classes)) * mpq_class(grad_loss);
    exact.value.canonicalize();
    if (pairs == 0) return Decode(format, bits) == 0;  // Of either sign.
    return UlpError(format, exact, bits) <= 1;
  };
  std::array<std::optional<uint32_t>, kLevels> of_level;
  auto label = labels.lower_bound(begin);
  for (int64_t i = begin; i < end; ++i) {
    const uint32_t bits = BitsAt(format, gradient, i);
    const int level = LevelOf(format, BitsAt(format, scores, i));
    if (label != labels.end() && label->first == i) {
      if (!is_right(-label->second * row.ActiveOthers(level), bits)) return i;
      ++label;
      continue;
    }
    std::optional<uint32_t>& known = of_level[static_cast<size_t>(level)];
    if (!known.has_value() && is_right(row.ActiveLabels(level), bits)) known = bits;
    if (known != bits) return i;
  }
  return -1;
}

int64_t FindWrongMask(const FloatFormat& format, const LabelCounts& labels, const void* mask,
                      int64_t begin, int64_t end) {
  auto label = labels.lower_bound(begin);
  for (int64_t i = begin; i < end; ++i) {
    const bool is_label = label != labels.end() && label->first == i;
    if (BitsAt(format, mask, i) != (is_label ? format.one() : 0)) return i;
    if (is_label) ++label;
  }
  return -1;
}

}  // namespace mlmargin::testing
