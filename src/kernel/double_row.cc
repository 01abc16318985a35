// SPDX-License-Identifier: Apache-2.0
#include "kernel/double_row.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "kernel/element.h"
#include "kernel/label_totals.h"
#include "kernel/sort.h"
#include "kernel/threshold.h"
#include "kernel/visit_labels.h"

namespace mlmargin::kernel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr ScoreType kType = ScoreType::kFloat64;
constexpr int64_t kBytes = sizeof(double);

// Hinges of smaller scores can be added up without overflow, whatever their number.
constexpr double kLargeScore = 0x1p890;

// How many of the sorted thresholds are below y; without a branch that would be a guess.
size_t CountBelow(const double* thresholds, size_t size, double y) {
  if (size == 0) return 0;
  size_t first = 0;
  while (size > 1) {
    const size_t half = size / 2;
    first += thresholds[first + half - 1] < y ? half : 0;
    size -= half;
  }
  return first + (thresholds[first] < y ? 1 : 0);
}

// 1 - x, in the unit.
DoubleDouble Negated(double score, double unit) { return DoubleDouble::Sum(unit, -score * unit); }

// (1 - x) + y, in the unit. Where the first sum cancels it is exact, so the relative error is tiny.
DoubleDouble Hinge(DoubleDouble negated, double y) {
  DoubleDouble hinge = DoubleDouble::Sum(negated.high, y);
  hinge += {0, negated.low};
  return hinge;
}

}  // namespace

// Classes that are looked at together.
struct DoubleRow::Group {
  static constexpr size_t kSize = 64;
  int64_t begin;
  size_t size;
  uint64_t labels;  // A bit each.
  std::array<double, kSize> scores;
};

// Of a part, by class modulo kLanes.
struct DoubleRow::Sums {
  static constexpr size_t kLanes = 4;
  std::array<DoubleDouble, kLanes> plain;  // In the row's unit.
  DoubleDouble scaled;                     // In the unit 2^128, of a row that is not.
  bool infinite = false;
};

DoubleRow::DoubleRow(const LossArguments& args, const Shard* shard, bool counted, bool split)
    : args_(args), shard_(shard), counted_(counted), split_(split) {}

bool DoubleRow::Reserve(size_t labels) {
  return labels_.Reserve(labels) && label_scores_.Reserve(labels) && thresholds_.Reserve(labels) &&
         negated_.Reserve(labels) && distances_.Reserve(labels) && counts_.Reserve(labels + 1);
}

const void* DoubleRow::ScoreAt(int64_t label) const {
  return Offset(scores_.data, label * scores_.stride * kBytes);
}

bool DoubleRow::Read(int64_t n, BadLabels* bad) {
  row_number_ = n;
  label_row_ = LabelsOfRow(args_, n);
  scores_ = {ScoresOfRow(args_, n), args_.scores.column_stride, args_.classes, kType};
  size_t length = 0;
  VisitLabels(label_row_, [&](int64_t, int64_t) { ++length; });
  if (!Reserve(length)) return false;
  const bool is_shard = shard_ != nullptr;
  const ShardLabels shard =
      is_shard ? shard_->LabelsOfRow(kType, n) : ShardLabels{0, args_.classes, nullptr, 0};
  num_labels_ = num_scores_ = 0;
  // That another thread may change labels meanwhile must not overrun the arrays.
  const LabelRow before_end = {label_row_.data, label_row_.stride, static_cast<int64_t>(length),
                               label_row_.type};
  VisitLabels(before_end, [&](int64_t column, int64_t value) {
    if (!IsClass(value, shard.classes)) return NoteBadLabel(n, column, value, bad);
    const double score = LoadUnaligned<double>(
        is_shard ? Offset(shard.scores, column * shard.stride * kBytes) : ScoreAt(value));
    if (score < kInfinity) label_scores_.data()[num_scores_++] = score;
    const int64_t label = value - shard.first_class;
    if (IsClass(label, args_.classes)) labels_.data()[num_labels_++] = label;
  });
  SortLabels();
  counters_ = counts_.data();
  std::fill_n(counters_, num_scores_ + 1, 0);
  FindScale(n);
  return true;
}

void DoubleRow::SortLabels() {
  SortNumbers(labels_.data(), num_labels_);
  SortNumbers(label_scores_.data(), num_scores_);
  const double* const scores = label_scores_.data();
  any_infinite_ = num_scores_ > 0 && scores[0] == -kInfinity;
  // Then every sum has a hinge beside which the bits that small ones lose are nothing.
  scaled_ = num_scores_ > 0 && scores[0] <= -kLargeScore;
  for (size_t k = 0; k < num_scores_; ++k) {
    const double unit = UnitOf(scores[k]);
    thresholds_.data()[k] = FloorThreshold(scores[k]);
    negated_.data()[k] = Negated(scores[k], unit);
    DoubleDouble distance;
    if (k > 0) {
      distance = DoubleDouble::Sum(scores[k] * unit, -scores[k - 1] * unit);
      distance = distance.Times(static_cast<double>(k));
      distance += distances_.data()[k - 1].In(unit / UnitOf(scores[k - 1]));
    }
    distances_.data()[k] = distance;
  }
}

// What a score is multiplied with before it is added up.
double DoubleRow::UnitOf(double score) const {
  return scaled_ || score >= kLargeScore ? 1 / WideSum::kUnit : 1;
}

// The product of a count and this is to be right in its last place even where it is subnormal.
void DoubleRow::FindScale(int64_t n) {
  const GradLoss grad_loss(args_, AllClasses(args_, shard_), n);
  constexpr double kSmall = 0x1p-800, kShift = 0x1p200;
  const bool small = std::abs(grad_loss.value) < kSmall;
  unshift_ = small ? 1 / kShift : 1;
  const double value = small ? grad_loss.value * kShift : grad_loss.value;
  per_pair_.high = value / grad_loss.divisor;
  per_pair_.low = std::isfinite(per_pair_.high)
                      ? std::fma(-per_pair_.high, grad_loss.divisor, value) / grad_loss.divisor
                      : 0;
}

double DoubleRow::Gradient(double pairs) const {
  const DoubleDouble product = DoubleDouble::Product(pairs, per_pair_.high);
  if (product.high == 0 || !std::isfinite(product.high)) return product.high;
  return (product.high + (product.low + pairs * per_pair_.low)) * unshift_;
}

void DoubleRow::StoreGradientOf(int64_t label, double value) const {
  const int64_t at =
      row_number_ * args_.grad_scores.row_stride + label * args_.grad_scores.column_stride;
  StoreUnaligned(value, Offset(args_.grad_scores.data, at * kBytes));
}

void DoubleRow::WriteMask(const Group& group) const {
  const int64_t stride = args_.mask.column_stride;
  void* const first = Offset(args_.mask.data,
                             (row_number_ * args_.mask.row_stride + group.begin * stride) * kBytes);
  for (size_t i = 0; i < group.size; ++i) {
    const double value = (group.labels >> i & 1) != 0 ? 1.0 : 0.0;
    StoreUnaligned(value, Offset(first, static_cast<int64_t>(i) * stride * kBytes));
  }
}

// The hinges of a class that is above the lowest `count` > 0 thresholds. Only one of a large score
// is above the threshold of a label of a large score.
void DoubleRow::AddHinges(double y, size_t count, DoubleDouble* plain, DoubleDouble* scaled) const {
  const double unit = UnitOf(y);
  const double label_score = label_scores_.data()[count - 1];
  const double label_unit = UnitOf(label_score);
  const DoubleDouble negated =
      label_unit == unit ? negated_.data()[count - 1] : Negated(label_score, unit);
  DoubleDouble* const sum = scaled_ || unit == 1 ? plain : scaled;
  *sum += Hinge(negated, y * unit).Times(static_cast<double>(count));
  *sum += distances_.data()[count - 1].In(unit / label_unit);
}

void DoubleRow::WorkOnGroup(const Group& group, Sums* sums) const {
  const bool writes_gradient = args_.grad_scores.data != nullptr;
  std::array<double, Group::kSize> gradient;
  if (writes_gradient) std::fill_n(gradient.begin(), group.size, Gradient(0));
  const double lowest = num_scores_ == 0 ? kInfinity : thresholds_.data()[0];
  bool any = false;
  for (size_t i = 0; i < group.size; ++i) any |= group.scores[i] > lowest;
  for (size_t i = 0; any && i < group.size; ++i) {
    const double y = group.scores[i];
    if (!(y > lowest) || (group.labels >> i & 1) != 0) continue;
    const size_t count = CountBelow(thresholds_.data(), num_scores_, y);
    if (counted_) {
      if (split_) {
        std::atomic_ref(counters_[count]).fetch_add(1, std::memory_order_relaxed);
      } else {
        ++counters_[count];
      }
      if (writes_gradient) gradient[i] = Gradient(static_cast<double>(count));
    }
    if (any_infinite_ || y == kInfinity) {
      sums->infinite = true;
    } else if (args_.loss != nullptr) {
      AddHinges(y, count, &sums->plain[i % Sums::kLanes], &sums->scaled);
    }
  }
  if (!writes_gradient) return;
  for (size_t i = 0; i < group.size; ++i) {
    StoreGradientOf(group.begin + static_cast<int64_t>(i), gradient[i]);
  }
}

WideSum DoubleRow::SumPart(int64_t begin, int64_t end) const {
  const int64_t* const labels_end = labels_.data() + num_labels_;
  const int64_t* label = std::lower_bound(labels_.data(), labels_end, begin);
  Sums sums;
  Group group;
  for (group.begin = begin; group.begin < end; group.begin += Group::kSize) {
    group.size = std::min(Group::kSize, static_cast<size_t>(end - group.begin));
    group.labels = 0;
    for (; label != labels_end && *label < group.begin + static_cast<int64_t>(group.size);
         ++label) {
      group.labels |= uint64_t{1} << (*label - group.begin);
    }
    for (size_t i = 0; i < group.size; ++i) {
      group.scores[i] = LoadUnaligned<double>(ScoreAt(group.begin + static_cast<int64_t>(i)));
    }
    if (args_.mask.data != nullptr) WriteMask(group);
    WorkOnGroup(group, &sums);
  }
  if (sums.infinite) return WideSum::Infinite();
  for (size_t half = Sums::kLanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) sums.plain[i] += sums.plain[i + half];
  }
  // A scaled sum that is not zero is large, and leaves small ones nothing; zero must not.
  const bool scaled = scaled_ && sums.plain[0].high > 0;
  WideSum sum = scaled ? WideSum{sums.plain[0], true} : WideSum::Of(sums.plain[0]);
  if (sums.scaled.high > 0) sum += WideSum{sums.scaled, true};
  return sum;
}

int64_t DoubleRow::CountOf(double label_score) const {
  if (!(label_score < kInfinity)) return 0;
  const size_t place = CountBelow(thresholds_.data(), num_scores_, FloorThreshold(label_score));
  return place < num_scores_ ? counters_[place] : 0;
}

void DoubleRow::WriteLabelGradient() {
  SumCountsFromAbove(num_scores_, counters_);
  VisitRuns({labels_.data(), num_labels_}, [&](int64_t label, int64_t times) {
    const int64_t count = CountOf(LoadUnaligned<double>(ScoreAt(label)));
    StoreGradientOf(label, Gradient(static_cast<double>(-count * times)));
  });
}

bool DoubleRow::WriteLabelGradientFrom(const int64_t* counts) {
  return VisitLabelTotals(label_row_, shard_->LabelsOfRow(kType, row_number_), args_.classes,
                          counts, &totals_, [&](const LabelTotal& total) {
                            StoreGradientOf(total.label,
                                            Gradient(static_cast<double>(-total.count)));
                          });
}

void DoubleRow::CountForLabels(int64_t* counts) {
  SumCountsFromAbove(num_scores_, counters_);
  const ShardLabels shard = shard_->LabelsOfRow(kType, row_number_);
  std::fill_n(counts, label_row_.columns, 0);
  VisitGoodLabels(label_row_, shard.classes, [&](int64_t column, int64_t) {
    counts[column] =
        CountOf(LoadUnaligned<double>(Offset(shard.scores, column * shard.stride * kBytes)));
  });
}

}  // namespace mlmargin::kernel
