// SPDX-License-Identifier: Apache-2.0
#include "fuzz_support.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace mlmargin::fuzz {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Exact arithmetic goes through labels times classes; so many pairs a batch keep it quick.
constexpr int64_t kMostPairs = 200'000;

mpq_class PowerOfTwo(int exponent) {
  const mpz_class power = mpz_class(1) << static_cast<unsigned>(std::abs(exponent));
  return exponent >= 0 ? mpq_class(power) : mpq_class(mpz_class(1), power);
}

std::vector<double> PaletteValues(Provider& provider, double largest) {
  switch (provider.ConsumeIntegralInRange<int>(0, 4)) {
    case 0: {  // Quarters: ties, and hinges of exactly 0.
      std::vector<double> values;
      for (int k = -12; k <= 12; ++k) values.push_back(k / 4.0);
      return values;
    }
    case 1:  // Almost every hinge cancels.
      return {100.3, 99.3, 100.30001, 99.29999, 100.25, 99.25, 100.5};
    case 2:  // A trained model's.
      return {-9, -9.5, -11, -8.75, -12, -10, -7, 4, 5, -9.25, -13, -8};
    case 3:
      return {0,    -0.0,  1,       -1,       1e-40,        -1e-40,      6e-8,        -6e-8,
              kInf, -kInf, largest, -largest, std::nan(""), 1 + 0x1p-10, largest / 2, -2};
    default:
      return {0};
  }
}

}  // namespace

void Fail(const std::string& what) {
  std::fprintf(stderr, "fuzzer: %s\n", what.c_str());
  std::abort();
}

uint64_t Random::Next() {
  uint64_t z = state_ += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

Shape PickShape(Provider& provider) {
  const auto in_range = [&](int64_t low, int64_t high) {
    return provider.ConsumeIntegralInRange<int64_t>(low, high);
  };
  switch (in_range(0, 15)) {
    case 0:
      return {in_range(1, 2), in_range(1, 5000)};
    case 1:
      return {in_range(0, 400), in_range(1, 8)};
    case 2:
    case 3:
      return {in_range(1, 12), in_range(1, 260)};
    default:
      return {in_range(0, 5), in_range(1, 40)};
  }
}

uint64_t ScoreFormat::Encode(double value) const {
  if (narrow == nullptr) return std::bit_cast<uint64_t>(value);
  return testing::EncodeNear(*narrow, value);
}

double ScoreFormat::Decode(uint64_t bits) const {
  if (narrow == nullptr) return std::bit_cast<double>(bits);
  return testing::Decode(*narrow, static_cast<uint32_t>(bits));
}

ScoreSource::ScoreSource(Provider& provider, ScoreFormat format)
    : format_(format),
      random_(provider.ConsumeIntegral<uint16_t>()),
      any_bits_(OneIn(provider, 8)) {
  const double largest =
      std::ldexp(2 - std::ldexp(1.0, -format.mantissa_bits()), format.max_exponent());
  for (const double value : PaletteValues(provider, largest)) {
    palette_.push_back(format.Encode(value));
  }
  const auto raw = provider.ConsumeIntegralInRange<size_t>(0, 4);
  for (size_t i = 0; i < raw; ++i) palette_.push_back(provider.ConsumeIntegral<uint64_t>());
  const uint64_t mask = ~uint64_t{0} >> (64 - 8 * format.bytes());
  for (uint64_t& bits : palette_) bits &= mask;
}

uint64_t ScoreSource::Next() {
  const uint64_t bits = random_.Next();
  if (any_bits_) return bits >> (64 - 8 * format_.bytes());
  return palette_[(bits >> 16) % palette_.size()];
}

LabelSource::LabelSource(Provider& provider, const Shape& shape)
    : classes_(shape.classes),
      random_(provider.ConsumeIntegral<uint16_t>()),
      bad_one_in_(OneIn(provider, 4) ? 5 : 0) {
  const int64_t by_density[] = {5, 1, 0, 12, 70, shape.classes, 2 * shape.classes};
  const int64_t pairs_a_label = std::max<int64_t>(1, shape.rows * shape.classes);
  most_ = std::min(Pick(provider, by_density), std::max<int64_t>(1, kMostPairs / pairs_a_label));
}

int64_t LabelSource::NextEntry() {
  if (bad_one_in_ == 0 || random_.Below(bad_one_in_) != 0) {
    return static_cast<int64_t>(random_.Below(static_cast<uint64_t>(classes_)));
  }
  const int64_t bad[] = {classes_,    -2,        INT32_MIN,        INT32_MAX,
                         INT64_MIN,   INT64_MAX, int64_t{1} << 32, -(int64_t{1} << 32),
                         classes_ + 1};
  return bad[random_.Below(std::size(bad))];
}

std::vector<int64_t> LabelSource::NextRow(int64_t columns) {
  const auto length = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(most_) + 1));
  std::vector<int64_t> row;
  for (int64_t k = 0; k < columns; ++k) {
    row.push_back(k == length ? -1 : NextEntry());
    // What follows is not read: any number may stand there.
    if (k > length) row.back() = static_cast<int64_t>(random_.Below(9)) - 4;
  }
  return row;
}

bool IsWithinOneUlp(ScoreFormat format, const testing::ExactValue& exact, double got) {
  if (exact.infinite) return got == kInf;
  if (std::isnan(got)) return false;
  const mpq_class magnitude = abs(exact.value);
  const mpq_class beyond = PowerOfTwo(format.max_exponent() + 1);
  const bool right_sign = std::signbit(got) == (exact.value < 0);
  if (magnitude >= beyond) return std::isinf(got) && right_sign;
  if (std::isinf(got) && !right_sign) return false;
  const int least = 1 - format.max_exponent();
  const double near = magnitude.get_d();  // Truncated.
  const int exponent = near == 0 ? least : std::max(std::ilogb(near), least);
  const mpq_class value = std::isinf(got) ? beyond : mpq_class(std::fabs(got));
  const mpq_class error = value - magnitude;
  const bool zero_of_any_sign = got == 0 || exact.value == 0;
  return (right_sign || zero_of_any_sign) &&
         abs(error) <= PowerOfTwo(exponent - format.mantissa_bits());
}

}  // namespace mlmargin::fuzz
