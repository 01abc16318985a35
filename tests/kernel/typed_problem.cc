// SPDX-License-Identifier: Apache-2.0
#include "typed_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace mlmargin::testing {
namespace {

const FloatFormat& FormatOf(ScoreType type) {
  switch (type) {
    case ScoreType::kFloat16:
      return kFloat16;
    case ScoreType::kBFloat16:
      return kBFloat16;
    default:
      return kFloat32;
  }
}

constexpr unsigned char kGuard = 0xA5;

// Rows of elements somewhere in a buffer of guard bytes.
class View {
 public:
  View(ScoreType type, int64_t rows, int64_t columns, const RunOptions& options)
      : rows_(rows),
        columns_(columns),
        bytes_(TypeBytes(type)),
        step_(options.column_step),
        pitch_(columns * options.column_step + options.pitch_extra),
        misalignment_(options.misalignment),
        buffer_(static_cast<size_t>(rows * pitch_ + 64) * bytes_ + misalignment_, kGuard) {}

  unsigned char* At(int64_t n, int64_t i) {
    return buffer_.data() + misalignment_ + static_cast<size_t>(n * pitch_ + i * step_) * bytes_;
  }
  Matrix matrix() { return {At(0, 0), pitch_, step_}; }
  ConstMatrix const_matrix() { return {At(0, 0), pitch_, step_}; }

  // The elements; expects that nothing else was written.
  std::vector<unsigned char> Take() {
    std::vector<unsigned char> elements;
    for (int64_t n = 0; n < rows_; ++n) {
      for (int64_t i = 0; i < columns_; ++i) {
        unsigned char* const at = At(n, i);
        elements.insert(elements.end(), at, at + bytes_);
        std::fill_n(at, bytes_, kGuard);
      }
    }
    EXPECT_EQ(std::count(buffer_.begin(), buffer_.end(), kGuard), std::ssize(buffer_));
    return elements;
  }

 private:
  int64_t rows_, columns_;
  size_t bytes_;
  int64_t step_, pitch_;
  size_t misalignment_;
  std::vector<unsigned char> buffer_;
};

void AppendInteger(LabelType type, int64_t value, std::vector<unsigned char>* to) {
  const size_t bytes = type == LabelType::kInt32 ? 4 : 8;
  to->resize(to->size() + bytes);
  std::memcpy(to->data() + to->size() - bytes, &value, bytes);  // Little-endian.
}

}  // namespace

const char* TypeName(ScoreType type) {
  return type == ScoreType::kFloat64 ? "float64" : FormatOf(type).name;
}

size_t TypeBytes(ScoreType type) {
  return type == ScoreType::kFloat64 ? 8 : static_cast<size_t>(FormatOf(type).bits) / 8;
}

void EncodeValue(ScoreType type, double value, unsigned char* to) {
  if (type == ScoreType::kFloat64) {
    std::memcpy(to, &value, sizeof(value));
  } else {
    const uint32_t bits = EncodeNear(FormatOf(type), value);
    std::memcpy(to, &bits, TypeBytes(type));
  }
}

double DecodeValue(ScoreType type, const unsigned char* from) {
  if (type == ScoreType::kFloat64) {
    double value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  uint32_t bits = 0;
  std::memcpy(&bits, from, TypeBytes(type));
  return Decode(FormatOf(type), bits);
}

double Representable(ScoreType type, double value) {
  return type == ScoreType::kFloat64 ? value
                                     : Decode(FormatOf(type), EncodeNear(FormatOf(type), value));
}

double UlpOf(ScoreType type, double value) {
  const bool wide = type == ScoreType::kFloat64;
  const int least = wide ? -1022 : FormatOf(type).min_exponent();
  const int mantissa = wide ? 52 : FormatOf(type).mantissa_bits;
  const int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0, exponent - mantissa);
}

std::string Problem::Name() const {
  return std::string(TypeName(type)) + " " + std::to_string(rows()) + "x" +
         std::to_string(classes) + " reduction " + std::to_string(static_cast<int>(reduction));
}

Problem MakeProblem(ScoreType type, int64_t rows, int64_t classes, Density density, Spread spread,
                    uint64_t seed) {
  const Batch batch = MakeBatch(FormatOf(type), rows, classes, density, spread, seed);
  std::mt19937_64 random(seed);
  Problem problem;
  problem.type = type;
  problem.classes = classes;
  for (int64_t n = 0; n < rows; ++n) {
    problem.scores.push_back(batch.RowScores(n));
    if (type == ScoreType::kFloat64) {
      for (double& score : problem.scores.back()) {
        score *= 1 + static_cast<double>(random() % 16) * 0x1p-52;
      }
    }
    const std::vector<int64_t> labels = batch.RowLabels(n);
    problem.labels.emplace_back(labels.begin(), std::find(labels.begin(), labels.end(), -1));
    problem.grad_loss.push_back(
        Representable(type, (static_cast<double>(random() % 2000) - 1000) / 137));
  }
  return problem;
}

ProblemResult RunProblem(const Problem& problem, const RunOptions& options) {
  const int64_t rows = problem.rows();
  const bool none = problem.reduction == Reduction::kNone;
  const RunOptions packed;
  View scores(problem.type, rows, problem.classes, options);
  View mask(problem.type, rows, problem.classes, options);
  View gradient(problem.type, rows, problem.classes, options);
  View loss(problem.type, 1, none ? rows : 1, options);
  View grad_loss(problem.type, 1, std::max<int64_t>(1, rows), packed);
  std::vector<unsigned char> labels, offsets;
  size_t columns = 0, total = 0;
  for (const auto& row : problem.labels) columns = std::max(columns, row.size() + 1);
  AppendInteger(options.offset_type, 0, &offsets);
  for (int64_t n = 0; n < rows; ++n) {
    const auto r = static_cast<size_t>(n);
    for (int64_t i = 0; i < problem.classes; ++i) {
      EncodeValue(problem.type, problem.scores[r][static_cast<size_t>(i)], scores.At(n, i));
    }
    for (const int64_t label : problem.labels[r]) {
      AppendInteger(options.label_type, label, &labels);
    }
    for (size_t k = problem.labels[r].size(); !options.csr && k < columns; ++k) {
      AppendInteger(options.label_type, k == problem.labels[r].size() ? -1 : 7, &labels);
    }
    total += problem.labels[r].size();
    AppendInteger(options.offset_type, static_cast<int64_t>(total), &offsets);
    if (!problem.grad_loss.empty()) {
      EncodeValue(problem.type, problem.grad_loss[r], grad_loss.At(0, n));
    }
  }
  LossArguments call;
  call.rows = rows;
  call.classes = problem.classes;
  call.score_type = problem.type;
  call.label_type = options.label_type;
  call.reduction = problem.reduction;
  call.scores = scores.const_matrix();
  call.labels = {labels.data(), static_cast<int64_t>(columns), 1};
  call.label_columns = static_cast<int64_t>(options.csr ? total : columns);
  if (options.csr) call.label_offsets = offsets.data();
  call.offset_type = options.offset_type;
  if (options.loss) call.loss = loss.At(0, 0);
  call.loss_stride = options.column_step;
  if (options.mask) call.mask = mask.matrix();
  if (options.gradient) call.grad_scores = gradient.matrix();
  if (!problem.grad_loss.empty()) call.grad_loss = grad_loss.At(0, 0);
  call.max_threads = options.max_threads;
  ProblemResult result;
  const Status status = MultilabelMarginLoss(call, &result.bad_labels);
  EXPECT_TRUE(status.ok()) << status.message();
  if (options.loss) result.loss = loss.Take();
  if (options.mask) result.mask = mask.Take();
  if (options.gradient) result.gradient = gradient.Take();
  return result;
}

}  // namespace mlmargin::testing
