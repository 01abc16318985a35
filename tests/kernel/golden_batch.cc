// SPDX-License-Identifier: Apache-2.0
#include "golden_batch.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "golden_random.h"

namespace mlmargin::testing {
namespace {

using Random = GoldenRandom;

// ---- Scores --------------------------------------------------------------------------------

// A score type by its fields.
struct Format {
  int bits;
  int mantissa_bits;
  int max_exponent;

  uint32_t sign() const { return 1u << (bits - 1); }
  uint32_t infinity() const { return (sign() - 1) & ~((1u << mantissa_bits) - 1); }
};

Format FormatOf(ScoreType type) {
  switch (type) {
    case ScoreType::kFloat32:
      return {32, 23, 127};
    case ScoreType::kFloat16:
      return {16, 10, 15};
    default:
      return {16, 7, 127};
  }
}

// Scores are made in units of 2^-40.
constexpr int kFractionBits = 40;
constexpr int64_t kOne = int64_t{1} << kFractionBits;

// The bit pattern of `units` * 2^-40, cut towards zero; the largest finite one beyond it.
uint32_t Encode(const Format& format, int64_t units) {
  const uint32_t sign = units < 0 ? format.sign() : 0;
  const auto magnitude = static_cast<uint64_t>(units < 0 ? -units : units);
  if (magnitude == 0) return 0;
  const int exponent = 63 - std::countl_zero(magnitude) - kFractionBits;
  if (exponent > format.max_exponent) return sign | (format.infinity() - 1);
  const int min_exponent = 1 - format.max_exponent;
  const int bounded = std::max(exponent, min_exponent);
  // From units of 2^-40 to units in the last place; the implicit bit adds 1 to the exponent.
  const int shift = format.mantissa_bits - bounded - kFractionBits;
  const uint64_t mantissa = shift >= 0 ? magnitude << shift : magnitude >> std::min(-shift, 63);
  const auto biased = static_cast<uint32_t>(bounded - min_exponent);
  return sign | ((biased << format.mantissa_bits) + static_cast<uint32_t>(mantissa));
}

// About normal: the sum of four uniform numbers, times 7/4 for a standard deviation of 1.
int64_t Bell(Random* random) {
  const uint64_t digits = random->Next();
  int64_t sum = -2 * 65535;
  for (int i = 0; i < 4; ++i) sum += static_cast<int64_t>((digits >> (16 * i)) & 0xFFFF);
  // Digits below those of the sum, so that all bits of a float are used.
  const int64_t fine = sum * (int64_t{1} << 22) + random->Below(1 << 22);
  return fine * 7;  // Of 2^-16 * 2^-22 * 7/4 = 7 * 2^-40.
}

uint32_t Special(const Format& format, unsigned kinds, Random* random) {
  switch (random->Below(192)) {
    case 0:
      if ((kinds & 1) != 0) return format.infinity();
      break;
    case 1:
      if ((kinds & 2) != 0) return format.infinity() | format.sign();
      break;
    case 2:
      if ((kinds & 4) != 0) return format.infinity() | (1u << (format.mantissa_bits - 1));
      break;
    default:
      break;
  }
  return Encode(format, Bell(random));
}

// A row's labels, as the scores want to know them.
struct RowLabels {
  std::vector<bool> is_label;  // By class.
  int64_t entries = 0;         // With repeats.
  int64_t others = 0;          // Classes that are no labels.
};

// For kTie. The hinges of one class add up to an odd number of half units in the last place; those
// of the others, near the last bit of that sum as a double, decide whether it is rounded up. So the
// result tells in which order they were added, which it hardly ever does by chance.
class TieScores {
 public:
  TieScores() = default;
  TieScores(const Format& format, const RowLabels& labels, Random* random)
      : format_(format), random_(random) {
    if (labels.entries == 0 || labels.others == 0) return;
    const auto others = static_cast<uint64_t>(labels.others);
    const int zeros = std::countr_zero(static_cast<uint64_t>(labels.entries));
    // The odd factor times `half_units_` must have one bit more than a mantissa, be odd, and, since
    // a tie goes to the even neighbour, be 1 modulo 4.
    const int64_t odd = labels.entries >> zeros;
    const int64_t least = (int64_t{2} << format.mantissa_bits) / odd + 1;
    half_units_ = least + random->Below(least);
    while ((half_units_ * odd) % 4 != 1) ++half_units_;
    // The small hinges come from many classes or few, all together some 2^-55 to 2^-48 of the sum.
    const int64_t classes = int64_t{1} << random->Below(64 - std::countl_zero(others));
    one_class_of_ = labels.others / classes;
    const int pairs = 64 - std::countl_zero(static_cast<uint64_t>(labels.entries * classes));
    tiny_exponent_ = zeros - pairs - 55 + static_cast<int>(random->Below(8));
    tie_class_ = random->Below(labels.others);
  }

  uint32_t Next(bool is_label) {
    if (is_label) {
      const auto exponent = static_cast<uint32_t>(format_.max_exponent + tiny_exponent_);
      const auto mantissa = static_cast<uint32_t>(random_->Below(1 << format_.mantissa_bits));
      return format_.sign() | (exponent << format_.mantissa_bits) | mantissa;
    }
    if (tie_class_-- != 0) {
      return Encode(format_, random_->Below(one_class_of_) == 0 ? -kOne : -2 * kOne);
    }
    return Encode(format_, half_units_ * (kOne >> (format_.mantissa_bits + 1)) - kOne);
  }

 private:
  Format format_ = {};
  Random* random_ = nullptr;
  int64_t half_units_ = 1;
  int64_t one_class_of_ = 1;
  int tiny_exponent_ = 0;
  int64_t tie_class_ = -1;  // How many other classes come before it.
};

// One row's scores.
class RowScores {
 public:
  RowScores(const Format& format, GoldenSpread spread, const RowLabels& labels, Random* random)
      : format_(format), spread_(spread), random_(random), row_bits_(random->Next()) {
    if (spread == GoldenSpread::kTie) tie_ = TieScores(format, labels, random);
  }

  uint32_t Next(bool is_label) {
    switch (spread_) {
      case GoldenSpread::kOrdinary:
        return Encode(format_, Bell(random_));
      case GoldenSpread::kTrained:
        return Encode(format_, Bell(random_) + (is_label ? 2 * kOne : -4 * kOne));
      case GoldenSpread::kClose: {
        const int64_t base = random_->Below(2) == 0 ? 100 : 99;
        return Encode(format_, base * kOne + kOne * 3 / 10 + Bell(random_) / 1024);
      }
      case GoldenSpread::kLarge: {
        // From the fields: 2^24 is too large for units of 2^-40.
        const auto exponent =
            static_cast<uint32_t>(format_.max_exponent + format_.mantissa_bits + 1);
        return (exponent << format_.mantissa_bits) + static_cast<uint32_t>(random_->Below(4));
      }
      case GoldenSpread::kTiny:
        return is_label ? AnyBelow(format_.infinity() / 4) : Encode(format_, -kOne);
      case GoldenSpread::kWide:
        return AnyBelow(format_.infinity());
      case GoldenSpread::kSpecial:
        return Special(format_, static_cast<unsigned>(row_bits_ & 7), random_);
      case GoldenSpread::kTie:
        return tie_.Next(is_label);
      case GoldenSpread::kConstant:
        break;
    }
    return static_cast<uint32_t>(row_bits_ % format_.infinity());
  }

 private:
  uint32_t AnyBelow(uint32_t limit) {
    const uint32_t sign = random_->Below(2) == 0 ? 0 : format_.sign();
    return sign | static_cast<uint32_t>(random_->Below(limit));
  }

  Format format_;
  GoldenSpread spread_;
  Random* random_;
  uint64_t row_bits_;
  TieScores tie_;
};

// ---- Labels --------------------------------------------------------------------------------

int64_t NoClass(LabelType type, int64_t classes, Random* random) {
  const bool wide = type == LabelType::kInt64;
  const int64_t values[] = {
      -2,
      classes,
      classes + random->Below(1000),
      -2 - random->Below(1000),
      wide ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int32_t>::min(),
      wide ? int64_t{1} << 32 : std::numeric_limits<int32_t>::max(),
  };
  return values[random->Below(std::ssize(values))];
}

// `columns` entries: labels in no order, a -1, and behind it what nobody may read.
std::vector<int64_t> MakeLabels(const GoldenCase& golden, int64_t count, int64_t columns,
                                Random* random) {
  // The first `count` of a shuffled deck.
  std::vector<int64_t> deck(static_cast<size_t>(golden.classes));
  std::iota(deck.begin(), deck.end(), 0);
  const int64_t deals = std::min(count, golden.classes);
  for (int64_t i = 0; i < deals; ++i) {
    std::swap(deck[static_cast<size_t>(i)],
              deck[static_cast<size_t>(i + random->Below(golden.classes - i))]);
  }
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) {
    int64_t card = i % golden.classes;
    if (golden.density == GoldenDensity::kRepeats) {
      card = random->Below(std::min<int64_t>(golden.classes, 7));
    }
    labels.push_back(golden.density == GoldenDensity::kOutOfRange && i % 2 == 0
                         ? NoClass(golden.label_type, golden.classes, random)
                         : deck[static_cast<size_t>(card)]);
  }
  if (count < columns) labels.push_back(-1);
  while (std::ssize(labels) < columns) labels.push_back(random->Below(7) - 3);
  return labels;
}

RowLabels ReadLabels(const std::vector<int64_t>& labels, int64_t classes) {
  RowLabels row;
  row.is_label.resize(static_cast<size_t>(classes));
  for (const int64_t label : labels) {
    if (label == -1) break;
    if (label < 0 || label >= classes) continue;
    row.is_label[static_cast<size_t>(label)] = true;
    ++row.entries;
  }
  row.others = std::count(row.is_label.begin(), row.is_label.end(), false);
  return row;
}

// Little-endian, as all machines that this runs on.
void Append(const void* value, size_t bytes, std::vector<unsigned char>* to) {
  to->resize(to->size() + bytes);
  std::memcpy(to->data() + to->size() - bytes, value, bytes);
}

}  // namespace

GoldenBatch MakeGoldenBatch(const GoldenCase& golden) {
  const std::string name = golden.Name();
  Random random(
      HashBytes({reinterpret_cast<const unsigned char*>(name.data()), name.size()}, kEmptyHash));
  const Format format = FormatOf(golden.score_type);
  const int64_t count = GoldenLabels(golden.density, golden.classes);
  GoldenBatch batch;
  // The longest list of some ends with the columns, without a -1.
  batch.label_columns = count + random.Below(3);
  for (int64_t n = 0; n < golden.rows; ++n) {
    const std::vector<int64_t> labels =
        MakeLabels(golden, std::max<int64_t>(0, count - n % 5), batch.label_columns, &random);
    const RowLabels row = ReadLabels(labels, golden.classes);
    for (const int64_t label : labels) {
      Append(&label, golden.label_type == LabelType::kInt32 ? 4 : 8, &batch.labels);
    }
    RowScores scores(format, golden.spread, row, &random);
    for (const bool label : row.is_label) {
      const uint32_t bits = scores.Next(label);
      Append(&bits, static_cast<size_t>(format.bits) / 8, &batch.scores);
    }
  }
  return batch;
}

uint64_t HashBytes(std::span<const unsigned char> bytes, uint64_t hash) {
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}

}  // namespace mlmargin::testing
