// SPDX-License-Identifier: Apache-2.0
#include "support/batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace mlmargin::testing {
namespace {

using Random = std::mt19937_64;

uint32_t RandomSign(const FloatFormat& format, Random* random) {
  return static_cast<uint32_t>((*random)() & 1) << (format.bits - 1);
}

uint32_t MakeScore(const FloatFormat& format, Spread spread, Random* random) {
  std::normal_distribution<double> normal;
  switch (spread) {
    case Spread::kOrdinary:
      return EncodeNear(format, 2 * normal(*random));
    case Spread::kTiny:
      if ((*random)() % 4 == 0) return EncodeNear(format, -1.0);
      return static_cast<uint32_t>((*random)() % 3000) | RandomSign(format, random);
    case Spread::kClose:
      return EncodeNear(format, ((*random)() % 2 == 0 ? 100.3 : 99.3) + 1e-3 * normal(*random));
    case Spread::kWide:
      break;
  }
  return static_cast<uint32_t>((*random)() % format.infinity()) | RandomSign(format, random);
}

int64_t NumLabels(int64_t classes, Density density) {
  switch (density) {
    case Density::kNone:
      return 0;
    case Density::kFew:
      return std::min<int64_t>(classes, 5);
    case Density::kHalf:
      return (classes + 1) / 2;
    case Density::kAll:
      return classes;
  }
  return 0;
}

void MakeLabels(Density density, Random* random, int64_t classes, int64_t* labels) {
  std::vector<int64_t> order(static_cast<size_t>(classes));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), *random);
  const int64_t count = NumLabels(classes, density);
  for (int64_t i = 0; i < classes; ++i) {
    const auto junk = static_cast<int64_t>((*random)() % 7) - 3;
    labels[i] = i < count ? order[static_cast<size_t>(i)] : (i == count ? -1 : junk);
  }
  if (density == Density::kHalf && count > 2) labels[count / 2] = labels[0];
}

}  // namespace

std::vector<double> Batch::RowScores(int64_t row) const {
  std::vector<double> result;
  for (int64_t i = 0; i < classes; ++i) {
    result.push_back(Decode(format, scores[static_cast<size_t>(row * classes + i)]));
  }
  return result;
}

std::vector<int64_t> Batch::RowLabels(int64_t row) const {
  const auto begin = labels.begin() + row * classes;
  return std::vector<int64_t>(begin, begin + classes);
}

std::string Batch::Name() const {
  return std::string(format.name) + " " + std::to_string(rows) + "x" + std::to_string(classes);
}

Batch MakeBatch(const FloatFormat& format, int64_t rows, int64_t classes, Density density,
                Spread spread, uint64_t seed) {
  Random random(seed * 1'000'003 + static_cast<uint64_t>(rows * 8191 + classes));
  Batch batch{format, rows, classes, {}, {}};
  const auto size = static_cast<size_t>(rows * classes);
  batch.labels.resize(size);
  for (size_t i = 0; i < size; ++i) batch.scores.push_back(MakeScore(format, spread, &random));
  for (int64_t n = 0; n < rows; ++n) {
    MakeLabels(density, &random, classes, batch.labels.data() + n * classes);
  }
  return batch;
}

Batch MakeSpecialBatch(const FloatFormat& format) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double specials[] = {inf,  -inf, nan,  0.0,
                             -0.0, 1.0,  -2.0, Decode(format, format.infinity() - 1)};
  Batch batch{format, 0, 3, {}, {}};
  for (const double a : specials) {
    for (const double b : specials) {
      for (const double c : specials) {
        for (const double score : {a, b, c}) batch.scores.push_back(EncodeNear(format, score));
        batch.labels.insert(batch.labels.end(), {0, -1, 0});
        ++batch.rows;
      }
    }
  }
  return batch;
}

Expected::Expected(const Batch& batch) : rows_(batch.rows), classes_(batch.classes) {
  for (int64_t n = 0; n < batch.rows; ++n) {
    row_sums_.push_back(ExactRowSum(batch.RowScores(n), batch.RowLabels(n)));
    const auto mask = ExactMask(static_cast<size_t>(batch.classes), batch.RowLabels(n));
    mask_.insert(mask_.end(), mask.begin(), mask.end());
  }
}

std::vector<ExactValue> Expected::Losses(int64_t reduction) const {
  std::vector<ExactValue> losses;
  ExactValue total;
  for (const ExactValue& sum : row_sums_) {
    if (reduction == 0) losses.push_back(sum / classes_);
    total += sum;
  }
  if (reduction == 1) losses.push_back(total / classes_ / rows_);
  if (reduction == 2) losses.push_back(total / classes_);
  return losses;
}

}  // namespace mlmargin::testing
