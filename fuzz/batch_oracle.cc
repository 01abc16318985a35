// SPDX-License-Identifier: Apache-2.0
#include "batch_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/exact_row.h"

namespace mlmargin::fuzz {
namespace {

using testing::ExactRow;
using testing::ExactValue;

std::string Text(const Batch& batch, const char* output, size_t k, double got, double exact) {
  return std::string(output) + " element " + std::to_string(k) + " of " +
         std::to_string(batch.rows) + "x" + std::to_string(batch.classes) + ", type " +
         std::to_string(static_cast<int>(batch.type)) + ", reduction " +
         std::to_string(static_cast<int>(batch.reduction)) + ", is " + std::to_string(got) +
         ", exactly " + std::to_string(exact);
}

std::vector<int64_t> ListOf(const std::vector<int64_t>& labels) {
  return {labels.begin(), std::find(labels.begin(), labels.end(), -1)};
}

mpq_class Divisor(const Batch& batch) {
  mpq_class divisor = static_cast<double>(batch.classes);
  if (batch.reduction == Reduction::kMean) divisor *= static_cast<double>(batch.rows);
  return divisor;
}

void JudgeLosses(const Batch& batch, const std::vector<ExactRow>& rows,
                 const std::vector<uint64_t>& losses) {
  if (losses.empty()) return;
  if (batch.rows == 0) {  // Then there is one: a mean of nothing, or a sum.
    const double got = batch.format().Decode(losses[0]);
    const bool right = batch.reduction == Reduction::kMean ? std::isnan(got) : got == 0;
    if (!right) Fail(Text(batch, "loss", 0, got, 0));
    return;
  }
  std::vector<ExactValue> exact(static_cast<size_t>(batch.num_losses()));
  for (size_t n = 0; n < rows.size(); ++n) {
    exact[batch.reduction == Reduction::kNone ? n : 0] += {rows[n].infinite, rows[n].sum};
  }
  for (size_t k = 0; k < exact.size(); ++k) {
    exact[k].value /= Divisor(batch);
    const double got = batch.format().Decode(losses[k]);
    if (!IsWithinOneUlp(batch.format(), exact[k], got)) {
      Fail(Text(batch, "loss", k, got, exact[k].value.get_d()));
    }
  }
}

void JudgeMask(const Batch& batch, const std::vector<uint64_t>& mask) {
  if (mask.empty()) return;
  const uint64_t one = batch.format().Encode(1);
  const auto classes = static_cast<size_t>(batch.classes);
  for (size_t n = 0; n < static_cast<size_t>(batch.rows); ++n) {
    const std::vector<int> exact = testing::ExactMask(classes, batch.labels[n]);
    for (size_t i = 0; i < classes; ++i) {
      const uint64_t got = mask[n * classes + i];
      if (got != (exact[i] == 1 ? one : 0)) {
        Fail(Text(batch, "mask", n * classes + i, batch.format().Decode(got), exact[i]));
      }
    }
  }
}

void JudgeGradient(const Batch& batch, const std::vector<ExactRow>& rows,
                   const std::vector<uint64_t>& gradient) {
  const auto classes = static_cast<size_t>(batch.classes);
  for (size_t k = 0; k < gradient.size(); ++k) {
    const size_t row = k / classes;
    const size_t g = batch.reduction == Reduction::kNone ? row : 0;
    const double scale = batch.grad_loss.empty() ? 1 : batch.grad_loss[g];
    if (!std::isfinite(scale)) continue;  // What multiplication gives.
    const auto count = static_cast<double>(rows[row].counts[k % classes]);
    const ExactValue exact{false, mpq_class(count) * mpq_class(scale) / Divisor(batch)};
    const double got = batch.format().Decode(gradient[k]);
    if (!IsWithinOneUlp(batch.format(), exact, got)) {
      Fail(Text(batch, "gradient", k, got, exact.value.get_d()));
    }
  }
}

}  // namespace

ScoreFormat FormatOf(ScoreType type) {
  switch (type) {
    case ScoreType::kFloat32:
      return {&testing::kFloat32};
    case ScoreType::kFloat16:
      return {&testing::kFloat16};
    case ScoreType::kBFloat16:
      return {&testing::kBFloat16};
    case ScoreType::kFloat64:
      break;
  }
  return {};
}

void Outputs::UnifyNaNs(ScoreFormat format) {
  for (std::vector<uint64_t>* output : {&loss, &mask, &gradient}) {
    for (uint64_t& bits : *output) {
      if (std::isnan(format.Decode(bits))) bits = format.Encode(std::nan(""));
    }
  }
}

void Judge(const Batch& batch, const Outputs& outputs) {
  std::vector<ExactRow> rows;
  for (size_t n = 0; n < batch.scores.size(); ++n) {
    rows.emplace_back(batch.scores[n], ListOf(batch.labels[n]));
  }
  JudgeLosses(batch, rows, outputs.loss);
  JudgeMask(batch, outputs.mask);
  JudgeGradient(batch, rows, outputs.gradient);
}

BadLabels ExpectedBadLabels(const Batch& batch) {
  BadLabels bad;
  for (size_t n = 0; n < batch.labels.size(); ++n) {
    const std::vector<int64_t> list = ListOf(batch.labels[n]);
    for (size_t k = 0; k < list.size(); ++k) {
      if (list[k] >= 0 && list[k] < batch.classes) continue;
      if (bad.count++ > 0) continue;
      bad.row = static_cast<int64_t>(n);
      bad.column = static_cast<int64_t>(k);
      bad.value = list[k];
    }
  }
  return bad;
}

}  // namespace mlmargin::fuzz
