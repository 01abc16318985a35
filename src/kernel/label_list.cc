// SPDX-License-Identifier: Apache-2.0
#include "kernel/label_list.h"

#include <algorithm>
#include <limits>
#include <new>

#include "kernel/element.h"
#include "kernel/threshold.h"

namespace mlmargin::kernel {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

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

bool IsClass(int64_t value, int64_t classes) {
  return static_cast<uint64_t>(value) < static_cast<uint64_t>(classes);
}

}  // namespace

void CountBadLabels(const LabelRow& labels, int64_t row, int64_t classes, BadLabels* bad) {
  VisitLabels(labels, [&](int64_t column, int64_t value) {
    if (!IsClass(value, classes)) NoteBadLabel(row, column, value, bad);
  });
}

void MergeBadLabels(const BadLabels& from, BadLabels* into) {
  if (from.count == 0) return;
  const int64_t count = from.count + into->count;
  if (into->count == 0 || from.row < into->row) *into = from;
  into->count = count;
}

bool LabelList::Read(const LabelRow& labels, const ScoreRow& scores, int64_t row, BadLabels* bad) {
  int64_t count = 0;
  VisitLabels(labels, [&](int64_t column, int64_t value) {
    if (!IsClass(value, scores.classes)) return NoteBadLabel(row, column, value, bad);
    if (count < capacity_) unsorted()[count] = value;
    ++count;
  });
  if (count > capacity_) {
    if (!Reserve(count)) return false;
    // A label that another thread changed meanwhile must not overrun the list.
    const int64_t limit = count;
    count = 0;
    VisitLabels(labels, [&](int64_t, int64_t value) {
      if (IsClass(value, scores.classes) && count < limit) unsorted()[count++] = value;
    });
  }
  size_ = count;
  SortBySlice(scores.classes);
  ReadScores(scores);
  return true;
}

// A counting sort of unsorted() into classes_. Slices are as narrow as a block unless there were
// more than kMaxSlices of them; for few labels or classes, there is one.
void LabelList::SortBySlice(int64_t classes) {
  const int64_t* const unsorted = this->unsorted();
  if (capacity_ == kInline || size_ <= kInline || classes <= kSliceClasses) {
    slice_shift_ = 63;
    slice_begin_[0] = 0;
    slice_begin_[1] = size_;
    std::copy_n(unsorted, size_, classes_);
    return;
  }
  slice_shift_ = kSliceShift;
  while ((classes - 1) >> slice_shift_ >= static_cast<int64_t>(kMaxSlices)) ++slice_shift_;
  const auto slice_of = [this](int64_t label) {
    return static_cast<size_t>(label >> slice_shift_);
  };
  const size_t num_slices = slice_of(classes - 1) + 1;
  std::fill_n(slice_begin_.begin(), num_slices + 1, 0);
  for (int64_t l = 0; l < size_; ++l) ++slice_begin_[slice_of(unsorted[l]) + 1];
  for (size_t s = 1; s <= num_slices; ++s) slice_begin_[s] += slice_begin_[s - 1];
  for (int64_t l = 0; l < size_; ++l) {
    classes_[slice_begin_[slice_of(unsorted[l])]++] = unsorted[l];
  }
  // Each entry has moved to the next one's place.
  const auto end = slice_begin_.begin() + static_cast<std::ptrdiff_t>(num_slices);
  std::copy_backward(slice_begin_.begin(), end, end + 1);
  slice_begin_[0] = 0;
}

void LabelList::ReadScores(const ScoreRow& scores) {
  switch (scores.type) {
    case ScoreType::kFloat32:
      return ReadScoresTyped<ScoreType::kFloat32>(scores);
    case ScoreType::kFloat16:
      return ReadScoresTyped<ScoreType::kFloat16>(scores);
    case ScoreType::kBFloat16:
      return ReadScoresTyped<ScoreType::kBFloat16>(scores);
  }
}

template <ScoreType kType>
void LabelList::ReadScoresTyped(const ScoreRow& scores) {
  const int64_t step = scores.stride * ScoreBytes(kType);
  const int64_t* const classes = classes_;
  float* const out = scores_;
  size_t count = 0;
  float min = 0;
  for (int64_t l = 0; l < size_; ++l) {
    const float score = LoadScore(kType, Offset(scores.data, classes[l] * step));
    out[count] = score;
    count += score < kInfinity ? 1 : 0;
    min = score < min ? score : min;
  }
  if (min == -kInfinity) {
    out[0] = min;
    count = 1;
  }
  num_scores_ = count;
}

void LabelList::FindThresholds() {
  for (size_t j = 0; j < num_scores_; ++j) thresholds_[j] = FloorThreshold(scores_[j]);
}

bool LabelList::Reserve(int64_t count) {
  constexpr int64_t kWide = sizeof(int64_t), kNarrow = sizeof(float);
  // Free first: the old list's content is not needed.
  heap_.reset();
  capacity_ = kInline;
  classes_ = inline_classes_.data();
  scores_ = inline_scores_.data();
  thresholds_ = inline_thresholds_.data();
  spare_ = inline_spare_.data();
  const int64_t narrow = 2 * count + static_cast<int64_t>(kSentinels);
  heap_.reset(new (std::nothrow)
                  std::byte[static_cast<size_t>(2 * count * kWide + narrow * kNarrow)]);
  if (heap_ == nullptr) return false;
  capacity_ = count;
  spare_ = heap_.get();
  std::byte* const classes = spare_ + count * kWide;
  std::byte* const scores = classes + count * kWide;
  classes_ = reinterpret_cast<int64_t*>(classes);
  scores_ = reinterpret_cast<float*>(scores);
  thresholds_ = scores_ + count;
  return true;
}

}  // namespace mlmargin::kernel
