// SPDX-License-Identifier: Apache-2.0
// The labels of one row, with the hinge's threshold of each.
#ifndef MLMARGIN_KERNEL_LABEL_LIST_H_
#define MLMARGIN_KERNEL_LABEL_LIST_H_

#include <array>
#include <cstdint>
#include <memory>

#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::kernel {

// Where the labels of a row lie.
struct LabelRow {
  const void* data;
  int64_t stride;  // In elements.
  int64_t columns;
  LabelType type;
};

// Adds the bad labels of row `row` to `bad`, which must describe earlier rows only.
void CountBadLabels(const LabelRow& labels, int64_t row, int64_t classes, BadLabels* bad);

// Adds what another range of rows found; the first position of both stays first.
void MergeBadLabels(const BadLabels& from, BadLabels* into);

// The good labels of one row in list order. For a label j the hinge against class i is
// max(0, high[j] + x[i] + low[j]): high + low is 1 - x[j] without rounding. Kept between rows so
// that only a row with more labels than any before it allocates.
class LabelList {
 public:
  // Reads a row. False when memory for its labels could not be had.
  bool Read(const LabelRow& labels, const void* scores, int64_t score_stride, ScoreType score_type,
            int64_t row, int64_t classes, BadLabels* bad);

  int64_t size() const { return size_; }
  const int64_t* classes() const { return classes_; }
  const double* high() const { return high_; }
  const double* low() const { return low_; }
  // False when every low() is zero, as for all scores of ordinary size.
  bool any_low() const { return any_low_; }

 private:
  bool Reserve(int64_t count);

  static constexpr int64_t kInline = 64;
  std::array<int64_t, kInline> inline_classes_;
  std::array<double, kInline> inline_high_;
  std::array<double, kInline> inline_low_;
  std::unique_ptr<int64_t[]> heap_classes_;
  std::unique_ptr<double[]> heap_thresholds_;  // All high, then all low.
  int64_t capacity_ = kInline;
  int64_t* classes_ = inline_classes_.data();
  double* high_ = inline_high_.data();
  double* low_ = inline_low_.data();
  int64_t size_ = 0;
  bool any_low_ = false;
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_LABEL_LIST_H_
