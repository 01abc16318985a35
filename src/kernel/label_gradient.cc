// SPDX-License-Identifier: Apache-2.0
#include "kernel/label_gradient.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernel/element.h"
#include "kernel/label_totals.h"

namespace mlmargin::kernel {

// Different classes that are labels, in ascending order.
struct LabelGradient::Chunk {
  size_t size = 0;
  std::array<int64_t, kChunk> classes;
  std::array<int64_t, kChunk> times;  // How often each is listed.
};

bool LabelGradient::Begin(const LabelList& labels, const ThresholdIndex* index) {
  const size_t size = labels.scores().size() + (index != nullptr ? 1 : 0);
  counts_ = inline_counts_.data();
  if (size > inline_counts_.size()) {
    if (!heap_counts_.Reserve(size)) return false;
    counts_ = heap_counts_.data();
  }
  std::fill_n(counts_, size, 0);
  return !labels.dense() || spare_list_.Reserve(static_cast<size_t>(labels.size()));
}

void LabelGradient::FinishCounts(const Row& row) {
  if (row.index == nullptr) return;
  SumCountsFromAbove(row.labels->scores().size(), counts_);
}

void LabelGradient::FindCounts(const Row& row, const RowKernels& kernels,
                               const GradientKernels& gradient_kernels, const float* scores,
                               size_t size, int64_t* counts) const {
  std::array<float, kChunk> thresholds;
  std::array<int32_t, kChunk> places;
  kernels.find_thresholds(scores, size, thresholds.data());
  const std::span<const float> known = {row.labels->thresholds(), row.labels->scores().size()};
  if (row.index != nullptr) {
    gradient_kernels.count_below(*row.index, thresholds.data(), size, places.data());
  } else {
    for (size_t i = 0; i < size; ++i) {
      const auto found = std::find(known.begin(), known.end(), thresholds[i]);
      places[i] = static_cast<int32_t>(found - known.begin());
    }
  }
  for (size_t i = 0; i < size; ++i) {
    // NaN and +inf are not among the thresholds and have no hinge.
    const bool counted = scores[i] < std::numeric_limits<float>::infinity();
    const auto place = static_cast<size_t>(places[i]);
    counts[i] = counted && place < known.size() ? counts_[place] : 0;
  }
}

void LabelGradient::WriteChunk(const Row& row, const RowKernels& kernels,
                               const GradientKernels& gradient_kernels, Chunk* chunk) const {
  if (chunk->size == 0) return;
  const ScoreType type = row.scores.type;
  const int64_t bytes = ScoreBytes(type);
  std::array<float, kChunk> scores;
  std::array<int64_t, kChunk> counts;
  for (size_t i = 0; i < chunk->size; ++i) {
    scores[i] =
        LoadScore(type, Offset(row.scores.data, chunk->classes[i] * row.scores.stride * bytes));
  }
  FindCounts(row, kernels, gradient_kernels, scores.data(), chunk->size, counts.data());
  for (size_t i = 0; i < chunk->size; ++i) {
    const auto pairs = static_cast<double>(-counts[i] * chunk->times[i]);
    StoreGradient(static_cast<float>(pairs * row.gradient.scale), type,
                  Offset(row.gradient.data, chunk->classes[i] * row.gradient.stride * bytes));
  }
  chunk->size = 0;
}

void LabelGradient::Write(const Row& row, const RowKernels& kernels,
                          const GradientKernels& gradient_kernels, const LabelRow& label_row,
                          LabelList* labels) {
  Chunk chunk;
  const auto add = [&](int64_t label, int64_t times) {
    if (chunk.size == kChunk) WriteChunk(row, kernels, gradient_kernels, &chunk);
    chunk.classes[chunk.size] = label;
    chunk.times[chunk.size] = times;
    ++chunk.size;
  };
  if (labels->dense() && labels->CountBits() == labels->size()) {
    // None is listed twice: the bits say all.
    const int64_t words = (row.scores.classes - 1) / 64 + 1;
    for (int64_t w = 0; w < words; ++w) {
      for (uint64_t bits = labels->bits()[w]; bits != 0; bits &= bits - 1) {
        add(w * 64 + std::countr_zero(bits), 1);
      }
    }
  } else {
    VisitRuns(labels->SortClasses(label_row, spare_list_.data()), add);
  }
  WriteChunk(row, kernels, gradient_kernels, &chunk);
}

}  // namespace mlmargin::kernel
