// SPDX-License-Identifier: Apache-2.0
#include "kernel/label_list.h"

#include <new>

#include "kernel/element.h"

namespace mlmargin::kernel {
namespace {

// Calls visit(column, value) for the labels before the first -1.
template <typename T, typename Visit>
void VisitTyped(const LabelRow& labels, Visit&& visit) {
  const int64_t step = labels.stride * static_cast<int64_t>(sizeof(T));
  for (int64_t column = 0; column < labels.columns; ++column) {
    const T value = LoadUnaligned<T>(Offset(labels.data, column * step));
    if (value == -1) return;
    visit(column, static_cast<int64_t>(value));
  }
}

template <typename Visit>
void VisitLabels(const LabelRow& labels, Visit&& visit) {
  if (labels.type == LabelType::kInt32) {
    VisitTyped<int32_t>(labels, visit);
  } else {
    VisitTyped<int64_t>(labels, visit);
  }
}

bool IsClass(int64_t value, int64_t classes) { return value >= 0 && value < classes; }

// 1 - score as an unevaluated sum (Knuth's TwoSum: D. E. Knuth, The Art of Computer Programming,
// vol. 2, section 4.2.2): *high is the rounded difference, *low what the rounding lost.
void Threshold(double score, double* high, double* low) {
  const double difference = 1.0 - score;
  const double score_part = 1.0 - difference;
  const double one_part = difference + score_part;
  *high = difference;
  *low = (1.0 - one_part) + (score_part - score);
  // An infinite or NaN score: the threshold is `high` alone.
  if (!std::isfinite(difference)) *low = 0;
}

}  // namespace

void CountBadLabels(const LabelRow& labels, int64_t row, int64_t classes, BadLabels* bad) {
  VisitLabels(labels, [&](int64_t column, int64_t value) {
    if (IsClass(value, classes)) return;
    if (bad->count++ == 0) {
      bad->row = row;
      bad->column = column;
      bad->value = value;
    }
  });
}

void MergeBadLabels(const BadLabels& from, BadLabels* into) {
  if (from.count == 0) return;
  const int64_t count = from.count + into->count;
  if (into->count == 0 || from.row < into->row) *into = from;
  into->count = count;
}

bool LabelList::Read(const LabelRow& labels, const void* scores, int64_t score_stride,
                     ScoreType score_type, int64_t row, int64_t classes, BadLabels* bad) {
  size_ = 0;
  any_low_ = false;
  int64_t count = 0;
  VisitLabels(labels, [&](int64_t, int64_t value) { count += IsClass(value, classes) ? 1 : 0; });
  if (!Reserve(count)) return false;
  CountBadLabels(labels, row, classes, bad);
  const int64_t step = score_stride * ScoreBytes(score_type);
  VisitLabels(labels, [&](int64_t, int64_t value) {
    // A label that another thread changed meanwhile must not overrun the list.
    if (!IsClass(value, classes) || size_ == count) return;
    classes_[size_] = value;
    Threshold(LoadScore(score_type, Offset(scores, value * step)), &high_[size_], &low_[size_]);
    any_low_ |= low_[size_] != 0;
    ++size_;
  });
  return true;
}

bool LabelList::Reserve(int64_t count) {
  if (count <= capacity_) return true;
  // Free first: the old list's content is not needed.
  heap_classes_.reset();
  heap_thresholds_.reset();
  capacity_ = kInline;
  classes_ = inline_classes_.data();
  high_ = inline_high_.data();
  low_ = inline_low_.data();
  const auto size = static_cast<size_t>(count);
  heap_classes_.reset(new (std::nothrow) int64_t[size]);
  heap_thresholds_.reset(new (std::nothrow) double[2 * size]);
  if (heap_classes_ == nullptr || heap_thresholds_ == nullptr) return false;
  capacity_ = count;
  classes_ = heap_classes_.get();
  high_ = heap_thresholds_.get();
  low_ = heap_thresholds_.get() + size;
  return true;
}

}  // namespace mlmargin::kernel
