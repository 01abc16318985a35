// SPDX-License-Identifier: Apache-2.0
// The labels of one row: which classes they are, and their scores.
#ifndef MLMARGIN_KERNEL_LABEL_LIST_H_
#define MLMARGIN_KERNEL_LABEL_LIST_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernel/threshold_tree.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::kernel {

// Where the labels of a row lie.
struct LabelRow {
  const void* data;
  int64_t stride;  // In elements.
  int64_t columns;
  LabelType type;
};

// Where the scores of a row lie.
struct ScoreRow {
  const void* data;
  int64_t stride;  // In elements.
  int64_t classes;
  ScoreType type;
};

// What a row of a shard, a range of the classes, needs to know of its labels besides.
struct ShardLabels {
  int64_t first_class;  // Of the shard.
  int64_t classes;      // In all.
  const void* scores;   // Of each entry of the list.
  int64_t stride;       // In elements.
};

// Adds a bad label to `bad`, which must describe earlier ones only.
inline void NoteBadLabel(int64_t row, int64_t column, int64_t value, BadLabels* bad) {
  if (bad->count++ != 0) return;
  bad->row = row;
  bad->column = column;
  bad->value = value;
}

// Adds the bad labels of row `row` to `bad`, which must describe earlier rows only.
void CountBadLabels(const LabelRow& labels, int64_t row, int64_t classes, BadLabels* bad);

// Adds what another range of rows found; the first position of both stays first.
void MergeBadLabels(const BadLabels& from, BadLabels* into);

// Sets thresholds[i] to FloorThreshold(scores[i]).
using FindThresholdsFunction = void (*)(const float* scores, size_t count, float* thresholds);

// The good labels of one row, repeats included, and what a row kernel needs to know of them. Kept
// between rows so that only a row with more labels than any before it allocates: about 24 bytes a
// label, nothing up to kInline labels.
//
// Of many labels among so many classes (dense()) which classes they are is kept as a bit for each
// class; else as a list, in slices.
class LabelList {
 public:
  static constexpr int64_t kInline = 64;
  static constexpr int64_t kMaxClassesPerDenseLabel = 64;

  // Reads row `row`. False when memory for its labels could not be had.
  bool Read(const LabelRow& labels, const ScoreRow& scores, int64_t row, BadLabels* bad);

  // The same where `scores` are those of a shard's classes: the labels are numbers among all
  // classes, of which those of the shard are kept, but the scores of all.
  bool ReadShard(const LabelRow& labels, const ScoreRow& scores, const ShardLabels& shard,
                 int64_t row, BadLabels* bad);

  // Labels read, but those that are no class.
  int64_t size() const { return size_; }

  // The same with those that are no class.
  int64_t entries() const { return entries_; }

  // A bit for each class, and a word of zeros behind them.
  bool dense() const { return dense_; }
  const uint64_t* bits() const { return reinterpret_cast<const uint64_t*>(classes_); }

  // How many different classes they are; only if dense().
  int64_t CountBits() const;

  // Unless dense(): the labels in the slice of kSliceClasses classes from `begin` on, a multiple of
  // that number; possibly others too.
  std::span<const int64_t> ClassesNear(int64_t begin) const {
    const auto slice = static_cast<size_t>(begin >> slice_shift_);
    return {classes_ + slice_begin_[slice], classes_ + slice_begin_[slice + 1]};
  }
  static constexpr int kSliceShift = 11;
  static constexpr int64_t kSliceClasses = int64_t{1} << kSliceShift;

  // The scores of those labels that a hinge can be positive for, in any order: not NaN, not +inf.
  std::span<float> scores() { return {scores_, num_scores_}; }
  std::span<const float> scores() const { return {scores_, num_scores_}; }
  // Whether one of them is -inf: its hinge with any class above -inf is infinite.
  bool any_infinite() const { return any_infinite_; }

  // FloorThreshold of each of scores(), once FindThresholds() was called. They begin at a cache
  // line and have room for the tree of them all behind.
  const float* thresholds() const { return thresholds_; }
  float* FindThresholds(FindThresholdsFunction find) {
    find(scores_, num_scores_, thresholds_);
    return thresholds_;
  }

  // All good labels in ascending order. Takes the place of the slices, or, if dense(), memory for
  // as many in `spare_list`; `labels` are those that were read.
  std::span<const int64_t> SortClasses(const LabelRow& labels, int64_t* spare_list);

  // Memory for a double a score.
  std::byte* spare() { return spare_; }

 private:
  bool Reserve(int64_t count);
  bool Begin(const LabelRow& labels, int64_t classes, LabelRow* before_end);
  template <ScoreType kType>
  void ReadTyped(const LabelRow& labels, const ScoreRow& scores, int64_t row, BadLabels* bad);
  void ReadClasses(const LabelRow& labels, int64_t classes, int64_t row, BadLabels* bad);
  template <ScoreType kType>
  void ReadDense(const LabelRow& labels, const ScoreRow& scores, int64_t row, BadLabels* bad);
  void SortBySlice(int64_t classes);
  template <ScoreType kType>
  void ReadScores(const ScoreRow& scores);
  void FinishClasses(bool sort, int64_t classes);
  void KeepScores(size_t count, bool any_infinite);
  uint64_t* mutable_bits() { return reinterpret_cast<uint64_t*>(classes_); }
  void ClearBits() { std::fill_n(mutable_bits(), (num_classes_ - 1) / 64 + 2, 0); }
  void SetBit(int64_t label) { mutable_bits()[label / 64] |= uint64_t{1} << (label % 64); }
  int64_t* unsorted() { return reinterpret_cast<int64_t*>(spare_); }

  static constexpr size_t kMaxSlices = 1024;

  std::array<int64_t, kInline> inline_classes_;
  std::array<float, kInline> inline_scores_;
  alignas(ThresholdTree::kNodeBytes)
      std::array<float, static_cast<size_t>(ThresholdTree(kInline).end)> inline_thresholds_;
  alignas(double) std::array<std::byte, kInline * sizeof(double)> inline_spare_;
  std::array<int64_t, kMaxSlices + 1> slice_begin_;
  // One block for all, which the C library keeps better between calls than several.
  std::unique_ptr<std::byte[]> heap_;
  int64_t capacity_ = kInline;
  int64_t* classes_ = inline_classes_.data();
  float* scores_ = inline_scores_.data();
  float* thresholds_ = inline_thresholds_.data();
  std::byte* spare_ = inline_spare_.data();
  bool dense_ = false;
  int64_t size_ = 0;
  int64_t entries_ = 0;
  size_t num_scores_ = 0;
  bool any_infinite_ = false;
  int64_t num_classes_ = 0;  // Of the row.
  int slice_shift_ = 63;
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_LABEL_LIST_H_
