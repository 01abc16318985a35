// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace mlmargin::bench {
namespace {

void RequireClose(const char* what, double actual, double expected, double relative) {
  const double allowed = relative * std::fabs(expected) + 1e-7;
  if (std::fabs(actual - expected) <= allowed) return;
  throw std::runtime_error(fmt::format("{}: {} where {} was expected", what, actual, expected));
}

double Tolerance(ScoreType type) {
  switch (type) {
    case ScoreType::kFloat32:
      return 1e-4;
    case ScoreType::kFloat16:
      return 0x1p-9;
    default:
      return 0x1p-6;
  }
}

void RequireMask(const Tensors& tensors) {
  if (std::memcmp(tensors.mask.data(), tensors.expected_mask.data(), tensors.mask.size()) != 0) {
    throw std::runtime_error("the mask is wrong");
  }
}

// The definition. Several sums let the compiler use vectors.
double RowLoss(const Batch& batch, const Tensors& tensors, size_t row) {
  constexpr size_t kSums = 16;
  const auto num_classes = static_cast<size_t>(batch.shape.classes);
  const auto num_labels = static_cast<size_t>(batch.shape.labels);
  std::vector<double> others(num_classes), labels;
  for (size_t i = 0; i < num_classes; ++i) others[i] = ScoreAt(tensors, row * num_classes + i);
  for (size_t i = row * num_labels; i < (row + 1) * num_labels; ++i) {
    double& score = others[static_cast<size_t>(batch.labels[i])];
    labels.push_back(score);
    score = -INFINITY;
  }
  others.resize((num_classes + kSums - 1) / kSums * kSums, -INFINITY);
  std::array<double, kSums> sums = {};
  for (const double label : labels) {
    for (size_t i = 0; i < others.size(); i += kSums) {
      for (size_t lane = 0; lane < kSums; ++lane) {
        sums[lane] += std::max(0.0, 1 - (label - others[i + lane]));
      }
    }
  }
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum / static_cast<double>(num_classes);
}

double MeanLoss(const Tensors& tensors, int64_t rows) {
  double sum = 0;
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) sum += LossAt(tensors, row);
  return sum / static_cast<double>(rows);
}

}  // namespace

void CallLoss(const LossArguments& arguments) {
  const Status status = MultilabelMarginLoss(arguments, nullptr);
  if (!status.ok()) throw std::runtime_error(status.message());
}

void CheckResults(const Batch& batch, Tensors* tensors) {
  const double tolerance = Tolerance(tensors->score_type);
  CallLoss(tensors->Call(Reduction::kMean));
  RequireMask(*tensors);
  const double mean = LossAt(*tensors, 0);

  std::memset(tensors->mask.data(), 0xFF, tensors->mask.size());
  CallLoss(tensors->Call(Reduction::kNone));
  RequireMask(*tensors);
  RequireClose("the mean of the rows' losses", mean, MeanLoss(*tensors, batch.shape.rows),
               tolerance);
  constexpr double kMaxPairs = 2e8;
  const double pairs = static_cast<double>(batch.shape.labels * batch.shape.classes);
  const auto num_rows = static_cast<size_t>(batch.shape.rows);
  const auto checked = std::clamp(static_cast<size_t>(kMaxPairs / pairs), size_t{1}, size_t{8});
  for (size_t i = 0; i < std::min(num_rows, checked); ++i) {
    const size_t row = num_rows - 1 - i * num_rows / checked;
    RequireClose("the loss of a row", LossAt(*tensors, row), RowLoss(batch, *tensors, row),
                 tolerance);
  }
}

void CheckGradient(Tensors* tensors) {
  CallLoss(tensors->Call(Reduction::kMean, Pass::kBackward));
  const auto classes = static_cast<size_t>(tensors->shape.classes);
  const auto* const gradient = reinterpret_cast<const float*>(tensors->mask.data());
  double all = 0;
  for (size_t row = 0; row < static_cast<size_t>(tensors->shape.rows); ++row) {
    double sum = 0, magnitude = 0;
    for (size_t i = row * classes; i < (row + 1) * classes; ++i) {
      sum += static_cast<double>(gradient[i]);
      magnitude += std::fabs(static_cast<double>(gradient[i]));
    }
    if (std::fabs(sum) > 1e-6 * magnitude) throw std::runtime_error("the gradient is wrong");
    all += magnitude;
  }
  if (!(all > 0)) throw std::runtime_error("the gradient is zero");
}

void CheckAgainstPyTorch(const Tensors& tensors, int64_t rows, double pytorch_mean) {
  RequireClose("the mean beside PyTorch's", MeanLoss(tensors, rows), pytorch_mean,
               Tolerance(tensors.score_type));
}

}  // namespace mlmargin::bench
