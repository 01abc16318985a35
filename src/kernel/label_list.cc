// SPDX-License-Identifier: Apache-2.0
#include "kernel/label_list.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

#include "kernel/element.h"
#include "kernel/sort.h"
#include "kernel/visit_labels.h"

namespace mlmargin::kernel {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Keeps the scores that a hinge can be positive for.
class ScoreFilter {
 public:
  explicit ScoreFilter(float* out) : out_(out) {}

  void Add(float score) {
    out_[count_] = score;
    count_ += score < kInfinity ? 1 : 0;
    min_ = score < min_ ? score : min_;
  }

  size_t count() const { return count_; }
  bool any_infinite() const { return min_ == -kInfinity; }

 private:
  float* const out_;
  size_t count_ = 0;
  float min_ = 0;
};

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

bool LabelList::Begin(const LabelRow& labels, int64_t classes, LabelRow* before_end) {
  int64_t length = 0;
  VisitLabels(labels, [&](int64_t, int64_t) { ++length; });
  if (length > capacity_ && !Reserve(length)) return false;
  // That another thread may change labels meanwhile must not overrun the list.
  *before_end = {labels.data, labels.stride, length, labels.type};
  entries_ = length;
  num_classes_ = classes;
  dense_ = length > kInline && (classes - 1) / kMaxClassesPerDenseLabel < length;
  return true;
}

bool LabelList::Read(const LabelRow& labels, const ScoreRow& scores, int64_t row, BadLabels* bad) {
  LabelRow before_end;
  if (!Begin(labels, scores.classes, &before_end)) return false;
  switch (scores.type) {
    case ScoreType::kFloat32:
      ReadTyped<ScoreType::kFloat32>(before_end, scores, row, bad);
      break;
    case ScoreType::kFloat16:
      ReadTyped<ScoreType::kFloat16>(before_end, scores, row, bad);
      break;
    case ScoreType::kBFloat16:
      ReadTyped<ScoreType::kBFloat16>(before_end, scores, row, bad);
      break;
    case ScoreType::kFloat64:
      break;  // Has a list of its own.
  }
  return true;
}

bool LabelList::ReadShard(const LabelRow& labels, const ScoreRow& scores, const ShardLabels& shard,
                          int64_t row, BadLabels* bad) {
  LabelRow before_end;
  if (!Begin(labels, scores.classes, &before_end)) return false;
  if (dense_) ClearBits();
  const bool sort = !dense_ && before_end.columns > kInline;
  int64_t* const out = sort ? unsorted() : classes_;
  const int64_t step = shard.stride * ScoreBytes(scores.type);
  ScoreFilter filter(scores_);
  int64_t count = 0;
  VisitLabels(before_end, [&](int64_t column, int64_t value) {
    if (!IsClass(value, shard.classes)) return NoteBadLabel(row, column, value, bad);
    filter.Add(LoadScore(scores.type, Offset(shard.scores, column * step)));
    const int64_t label = value - shard.first_class;
    if (!IsClass(label, scores.classes)) return;
    if (dense_) {
      SetBit(label);
    } else {
      out[count] = label;
    }
    ++count;
  });
  KeepScores(filter.count(), filter.any_infinite());
  size_ = count;
  if (!dense_) FinishClasses(sort, scores.classes);
  return true;
}

void LabelList::KeepScores(size_t count, bool any_infinite) {
  num_scores_ = count;
  any_infinite_ = any_infinite;
}

template <ScoreType kType>
void LabelList::ReadTyped(const LabelRow& labels, const ScoreRow& scores, int64_t row,
                          BadLabels* bad) {
  if (dense_) {
    ReadDense<kType>(labels, scores, row, bad);
  } else {
    ReadClasses(labels, scores.classes, row, bad);
    ReadScores<kType>(scores);
  }
}

void LabelList::ReadClasses(const LabelRow& labels, int64_t classes, int64_t row, BadLabels* bad) {
  const bool sort = labels.columns > kInline;
  int64_t* const out = sort ? unsorted() : classes_;
  int64_t count = 0;
  VisitLabels(labels, [&](int64_t column, int64_t value) {
    if (!IsClass(value, classes)) return NoteBadLabel(row, column, value, bad);
    out[count++] = value;
  });
  size_ = count;
  FinishClasses(sort, classes);
}

void LabelList::FinishClasses(bool sort, int64_t classes) {
  if (sort) return SortBySlice(classes);
  slice_shift_ = 63;
  slice_begin_[0] = 0;
  slice_begin_[1] = size_;
}

template <ScoreType kType>
void LabelList::ReadDense(const LabelRow& labels, const ScoreRow& scores, int64_t row,
                          BadLabels* bad) {
  const int64_t step = scores.stride * ScoreBytes(kType);
  const int64_t classes = scores.classes;
  const void* const data = scores.data;
  ClearBits();
  ScoreFilter filter(scores_);
  int64_t count = 0;
  VisitLabels(labels, [&](int64_t column, int64_t value) {
    if (!IsClass(value, classes)) return NoteBadLabel(row, column, value, bad);
    SetBit(value);
    filter.Add(LoadScore(kType, Offset(data, value * step)));
    ++count;
  });
  size_ = count;
  KeepScores(filter.count(), filter.any_infinite());
}

int64_t LabelList::CountBits() const {
  int64_t count = 0;
  for (int64_t w = 0; w <= (num_classes_ - 1) / 64; ++w) count += std::popcount(bits()[w]);
  return count;
}

// A counting sort of unsorted() into classes_. Slices are as narrow as a block unless there were
// more than kMaxSlices of them.
void LabelList::SortBySlice(int64_t classes) {
  const int64_t* const unsorted = this->unsorted();
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

template <ScoreType kType>
void LabelList::ReadScores(const ScoreRow& scores) {
  const int64_t step = scores.stride * ScoreBytes(kType);
  const int64_t* const classes = classes_;
  ScoreFilter filter(scores_);
  for (int64_t l = 0; l < size_; ++l) {
    filter.Add(LoadScore(kType, Offset(scores.data, classes[l] * step)));
  }
  KeepScores(filter.count(), filter.any_infinite());
}

std::span<const int64_t> LabelList::SortClasses(const LabelRow& labels, int64_t* spare_list) {
  int64_t* const out = dense_ ? spare_list : classes_;
  if (dense_) {
    int64_t count = 0;
    VisitLabels(labels, [&](int64_t, int64_t value) {
      // Should another thread change labels meanwhile, there may be more of them.
      if (IsClass(value, num_classes_) && count < size_) out[count++] = value;
    });
    size_ = count;
  }
  const auto size = static_cast<size_t>(size_);
  SortNumbers(out, size);
  return {out, size};
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
  // Bits take a word for 64 classes, as many as a label has at most, and one of zeros.
  const int64_t class_bytes = (count + 1) * kWide;
  const int64_t tree_bytes = ThresholdTree(count).end * kNarrow;
  constexpr size_t kAlign = ThresholdTree::kNodeBytes;
  const int64_t bytes = tree_bytes + class_bytes + count * (kWide + kNarrow);
  heap_.reset(new (std::nothrow) std::byte[static_cast<size_t>(bytes) + kAlign]);
  if (heap_ == nullptr) return false;
  capacity_ = count;
  const size_t over = reinterpret_cast<uintptr_t>(heap_.get()) % kAlign;
  std::byte* const thresholds = heap_.get() + (over == 0 ? 0 : kAlign - over);
  std::byte* const classes = thresholds + tree_bytes;
  spare_ = classes + class_bytes;
  thresholds_ = reinterpret_cast<float*>(thresholds);
  classes_ = reinterpret_cast<int64_t*>(classes);
  scores_ = reinterpret_cast<float*>(spare_ + count * kWide);
  return true;
}

}  // namespace mlmargin::kernel
