// SPDX-License-Identifier: Apache-2.0
// Runs the C++ API on a made-up batch.
#ifndef MLMARGIN_TESTS_KERNEL_KERNEL_RUN_H_
#define MLMARGIN_TESTS_KERNEL_KERNEL_RUN_H_

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "kernel/row_kernel.h"
#include "mlmargin/multilabel_margin_loss.h"
#include "mlmargin/settings.h"
#include "support/batch.h"

namespace mlmargin::testing {

inline ScoreType TypeOf(const FloatFormat& format) {
  if (format.bits == 32) return ScoreType::kFloat32;
  return format.mantissa_bits == 10 ? ScoreType::kFloat16 : ScoreType::kBFloat16;
}

// The row kernels, and the choice between them.
struct KernelChoice {
  const char* name;
  std::optional<kernel::RowKernel> kernel;
  std::optional<bool> stream;

  void Use() const {
    kernel::ForceRowKernel(kernel);
    kernel::ForceStream(stream);
  }
};
inline void UseAnyKernel() { KernelChoice{"", std::nullopt, std::nullopt}.Use(); }
inline void PrintTo(const KernelChoice& choice, std::ostream* out) { *out << choice.name; }
inline constexpr KernelChoice kKernelChoices[] = {
    {"chosen", std::nullopt, std::nullopt},
    {"short", kernel::RowKernel::kShort, std::nullopt},
    {"pairwise", kernel::RowKernel::kPairwise, std::nullopt},
    {"streaming", kernel::RowKernel::kPairwise, true},
    {"search", kernel::RowKernel::kSearch, std::nullopt}};

// Bit patterns as an array of the format, which begins `misalignment` bytes into the buffer.
class ElementArray {
 public:
  ElementArray(const FloatFormat& format, size_t count, size_t misalignment = 0)
      : bytes_(static_cast<size_t>(format.bits) / 8),
        misalignment_(misalignment),
        buffer_(count * bytes_ + misalignment + 64, 0xA5) {}

  void* data() { return buffer_.data() + misalignment_; }
  void Set(size_t i, uint32_t bits) { std::memcpy(At(i), &bits, bytes_); }  // Little-endian.
  uint32_t Get(size_t i) {
    uint32_t bits = 0;
    std::memcpy(&bits, At(i), bytes_);
    return bits;
  }

 private:
  unsigned char* At(size_t i) { return buffer_.data() + misalignment_ + i * bytes_; }

  size_t bytes_;
  size_t misalignment_;
  std::vector<unsigned char> buffer_;
};

struct KernelResult {
  std::vector<uint32_t> losses;
  std::vector<uint32_t> mask;
  BadLabels bad_labels;

  bool operator==(const KernelResult& other) const {
    return losses == other.losses && mask == other.mask;
  }
};

// Rows at a pitch of `pitch_extra` more elements than needed, data misaligned by so many bytes.
struct Layout {
  int64_t pitch_extra = 0;
  size_t misalignment = 0;
};

inline KernelResult RunKernel(const Batch& batch, Reduction reduction, Layout layout = {}) {
  const int64_t pitch = batch.classes + layout.pitch_extra;
  const auto size = static_cast<size_t>(batch.rows * pitch);
  ElementArray scores(batch.format, size, layout.misalignment);
  ElementArray mask(batch.format, size, layout.misalignment);
  const size_t num_losses = reduction == Reduction::kNone ? static_cast<size_t>(batch.rows) : 1;
  ElementArray losses(batch.format, num_losses, layout.misalignment);
  const auto index = [&](int64_t n, int64_t i) { return static_cast<size_t>(n * pitch + i); };
  for (int64_t n = 0; n < batch.rows; ++n) {
    for (int64_t i = 0; i < batch.classes; ++i) {
      scores.Set(index(n, i), batch.scores[static_cast<size_t>(n * batch.classes + i)]);
    }
  }
  std::vector<double> row_losses(static_cast<size_t>(batch.rows));
  LossArguments arguments;
  arguments.rows = batch.rows;
  arguments.classes = batch.classes;
  arguments.score_type = TypeOf(batch.format);
  arguments.reduction = reduction;
  arguments.scores = {scores.data(), pitch, 1};
  arguments.labels = {batch.labels.data(), batch.classes, 1};
  arguments.label_columns = batch.classes;
  arguments.loss = losses.data();
  arguments.mask = {mask.data(), pitch, 1};
  arguments.row_losses = row_losses.data();
  KernelResult result;
  const Status status = MultilabelMarginLoss(arguments, &result.bad_labels);
  EXPECT_TRUE(status.ok()) << status.message();
  for (size_t i = 0; i < num_losses; ++i) result.losses.push_back(losses.Get(i));
  for (int64_t n = 0; n < batch.rows; ++n) {
    for (int64_t i = 0; i < batch.classes; ++i) result.mask.push_back(mask.Get(index(n, i)));
  }
  return result;
}

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_KERNEL_KERNEL_RUN_H_
