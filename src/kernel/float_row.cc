// SPDX-License-Identifier: Apache-2.0
#include "kernel/float_row.h"

#include <algorithm>
#include <array>

#include "kernel/element.h"
#include "kernel/visit_labels.h"

namespace mlmargin::kernel {
namespace {

// Whether the mask is written past the caches.
bool StreamMask(const LossArguments& args) {
  const int64_t bytes = ScoreBytes(args.score_type);
  const auto address = reinterpret_cast<uintptr_t>(args.mask.data);
  return args.mask.data != nullptr && args.mask.column_stride == 1 &&
         address % static_cast<uintptr_t>(bytes) == 0 &&
         UseStream(static_cast<double>(args.rows) * static_cast<double>(args.classes) *
                   static_cast<double>(bytes));
}

void* RowOf(const Matrix& matrix, int64_t n, int64_t bytes) {
  return matrix.data == nullptr ? nullptr : Offset(matrix.data, n * matrix.row_stride * bytes);
}

}  // namespace

FloatRow::FloatRow(const LossArguments& args, const Shard* shard, bool counted, bool split)
    : args_(args),
      shard_(shard),
      counted_(counted),
      kernels_(KernelsInUse()),
      gradient_kernels_(GradientKernelsInUse()) {
  row_.scores.stride = args.scores.column_stride;
  row_.scores.classes = args.classes;
  row_.scores.type = args.score_type;
  row_.mask_stride = args.mask.column_stride;
  row_.stream_mask = StreamMask(args);
  row_.labels = &labels_;
  row_.loss_wanted = args.loss != nullptr;
  row_.gradient.stride = args.grad_scores.column_stride;
  row_.gradient.shared_counts = split;
}

bool FloatRow::Read(int64_t n, BadLabels* bad) {
  const int64_t bytes = ScoreBytes(args_.score_type);
  row_number_ = n;
  label_row_ = LabelsOfRow(args_, n);
  row_.scores.data = ScoresOfRow(args_, n);
  row_.mask = RowOf(args_.mask, n, bytes);
  const bool read = shard_ == nullptr
                        ? labels_.Read(label_row_, row_.scores, n, bad)
                        : labels_.ReadShard(label_row_, row_.scores,
                                            shard_->LabelsOfRow(args_.score_type, n), n, bad);
  if (!read) return false;
  const auto count = static_cast<int64_t>(labels_.scores().size());
  row_.kernel = ChooseRowKernel(count);
  row_.index = nullptr;
  const bool many = row_.kernel == RowKernel::kSearch || count > kMaxFewLabels;
  if (many && count > 0 && (counted_ || !labels_.any_infinite())) {
    index_.Build(&labels_, kernels_.find_thresholds);
    row_.index = &index_;
  } else {
    // In which order the labels of a shard were read must not show in the offsets' sum.
    if (labels_.entries() > LabelList::kInline) {
      std::sort(labels_.scores().begin(), labels_.scores().end());
    }
    labels_.FindThresholds(kernels_.find_thresholds);
  }
  if (!counted_) return true;
  row_.gradient.data = RowOf(args_.grad_scores, n, bytes);
  row_.gradient.scale = GradLoss(args_, AllClasses(args_, shard_), n).PerPair();
  if (!label_gradient_.Begin(labels_, row_.index)) return false;
  row_.gradient.counts = label_gradient_.counts();
  return true;
}

PlainSum FloatRow::SumPart(int64_t begin, int64_t end) const {
  if (!counted_) return {kernels_.sum_range(row_, begin, end)};
  if (!row_.loss_wanted || FusesGradient(row_)) {
    return {gradient_kernels_.sum_range(row_, begin, end)};
  }
  Row gradient_only = row_;
  gradient_only.mask = nullptr;
  gradient_only.loss_wanted = false;
  gradient_kernels_.sum_range(gradient_only, begin, end);
  return {kernels_.sum_range(row_, begin, end)};
}

void FloatRow::WriteLabelGradient() {
  label_gradient_.FinishCounts(row_);
  label_gradient_.Write(row_, kernels_, gradient_kernels_, label_row_, &labels_);
}

void FloatRow::CountForLabels(int64_t* counts) {
  label_gradient_.FinishCounts(row_);
  const ShardLabels shard = shard_->LabelsOfRow(args_.score_type, row_number_);
  const int64_t step = shard.stride * ScoreBytes(args_.score_type);
  std::fill_n(counts, label_row_.columns, 0);
  std::array<float, LabelGradient::kChunk> scores;
  std::array<int64_t, LabelGradient::kChunk> found;
  std::array<int64_t, LabelGradient::kChunk> places;
  size_t size = 0;
  const auto work_off = [&] {
    label_gradient_.FindCounts(row_, kernels_, gradient_kernels_, scores.data(), size,
                               found.data());
    for (size_t i = 0; i < size; ++i) counts[places[i]] = found[i];
    size = 0;
  };
  VisitGoodLabels(label_row_, shard.classes, [&](int64_t column, int64_t) {
    if (size == LabelGradient::kChunk) work_off();
    scores[size] = LoadScore(args_.score_type, Offset(shard.scores, column * step));
    places[size] = column;
    ++size;
  });
  work_off();
}

bool FloatRow::WriteLabelGradientFrom(const int64_t* counts) {
  const RowGradient& gradient = row_.gradient;
  const int64_t step = gradient.stride * ScoreBytes(args_.score_type);
  return VisitLabelTotals(label_row_, shard_->LabelsOfRow(args_.score_type, row_number_),
                          args_.classes, counts, &totals_, [&](const LabelTotal& total) {
                            const double value = static_cast<double>(-total.count) * gradient.scale;
                            StoreGradient(static_cast<float>(value), args_.score_type,
                                          Offset(gradient.data, total.label * step));
                          });
}

}  // namespace mlmargin::kernel
