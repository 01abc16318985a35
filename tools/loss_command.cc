// SPDX-License-Identifier: Apache-2.0
// mlmargin loss: some rows at a time, so that files may be larger than memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "commands.h"
#include "error.h"
#include "mlmargin/sharded_loss.h"
#include "progress.h"

namespace mlmargin::tools {
namespace {

using Bytes = std::vector<std::byte>;

void Require(const Status& status) {
  if (!status.ok()) throw ToolError(status.message());
}

// ---- Values as text --------------------------------------------------------------------------

float HalfToFloat(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return sign * (mantissa == 0 ? INFINITY : NAN);
  const int digits = exponent == 0 ? mantissa : mantissa + 1024;
  return sign * std::ldexp(static_cast<float>(digits), std::max(exponent, 1) - 25);
}

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// The number as a float or, for float64, a double.
double ValueAt(ScoreType type, const std::byte* from) {
  switch (type) {
    case ScoreType::kFloat64:
      return Load<double>(from);
    case ScoreType::kFloat16:
      return static_cast<double>(HalfToFloat(Load<uint16_t>(from)));
    case ScoreType::kBFloat16: {
      const uint32_t bits = uint32_t{Load<uint16_t>(from)} << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return static_cast<double>(value);
    }
    case ScoreType::kFloat32:
      break;
  }
  return static_cast<double>(Load<float>(from));
}

// The shortest digits that are this number and no other of its type.
std::string TextOf(ScoreType type, const std::byte* from) {
  const double value = ValueAt(type, from);
  return type == ScoreType::kFloat64 ? fmt::format("{}", value)
                                     : fmt::format("{}", static_cast<float>(value));
}

// ---- Outputs ---------------------------------------------------------------------------------

// The mask or the gradient: a file, or lines of text.
class MatrixOutput {
 public:
  MatrixOutput(const std::string& path, const Batch& batch)
      : type_(batch.score_type),
        classes_(batch.classes()),
        element_bytes_(static_cast<int64_t>(BytesOf(batch.scores.element))) {
    if (path.empty()) return;
    wanted_ = true;
    if (path == "-") return;
    std::vector<int64_t> shape = {batch.classes()};
    if (batch.scores.dimensions == 2) shape.insert(shape.begin(), batch.rows());
    file_.emplace(path, batch.scores.element, shape);
  }

  // Where the rows from `begin` on go; null if the matrix is not wanted.
  Matrix Rows(int64_t begin, int64_t rows) {
    if (!wanted_) return {};
    if (file_) return {file_->data() + begin * classes_ * element_bytes_, classes_, 1};
    text_rows_.resize(static_cast<size_t>(rows * classes_ * element_bytes_));
    return {text_rows_.data(), classes_, 1};
  }

  // The rows that Rows() gave out are there.
  void Written() {
    if (!wanted_ || file_) return;
    const auto count = static_cast<int64_t>(text_rows_.size()) / element_bytes_;
    for (int64_t i = 0; i < count; ++i) {
      fmt::print("{}{}", TextOf(type_, text_rows_.data() + i * element_bytes_),
                 (i + 1) % classes_ == 0 ? "\n" : " ");
    }
  }

  void Keep() {
    if (file_) file_->Keep();
  }

 private:
  const ScoreType type_;
  const int64_t classes_;
  const int64_t element_bytes_;
  bool wanted_ = false;
  std::optional<OutputFile> file_;
  Bytes text_rows_;
};

// ---- The computation -------------------------------------------------------------------------

class LossRun {
 public:
  LossRun(const LossOptions& options, const Batch& batch)
      : options_(options),
        batch_(batch),
        loss_(static_cast<size_t>(NumLosses()) * BytesOf(batch.scores.element)),
        row_losses_(static_cast<size_t>(batch.rows() * SumsPerPart(batch.score_type))),
        mask_(options.mask, batch),
        gradient_(options.gradient, batch) {}

  void Run() {
    const int64_t step = RowsOfPiece(batch_);
    Progress progress("rows", batch_.rows());
    for (int64_t begin = 0; begin < batch_.rows(); begin += step) {
      RunPiece(begin, std::min(step, batch_.rows() - begin));
      progress.Set(begin);
    }
    if (options_.reduction == Reduction::kNone) return;
    Require(ReduceParts(row_losses_.data(), batch_.rows(), 1, batch_.classes(), batch_.score_type,
                        options_.reduction, loss_.data()));
  }

  void KeepFiles() {
    mask_.Keep();
    gradient_.Keep();
  }

  int64_t NumLosses() const { return options_.reduction == Reduction::kNone ? batch_.rows() : 1; }
  const Bytes& loss() const { return loss_; }
  const std::byte* LossAt(int64_t n) const {
    return loss_.data() + n * static_cast<int64_t>(BytesOf(batch_.scores.element));
  }
  const BadLabels& bad_labels() const { return bad_labels_; }

 private:
  void RunPiece(int64_t begin, int64_t rows) {
    LossArguments arguments = PieceOf(batch_, begin, rows);
    arguments.reduction = options_.reduction;
    arguments.mean_rows = batch_.rows();
    arguments.max_threads = options_.threads;
    const bool none = options_.reduction == Reduction::kNone;
    arguments.loss = loss_.data() + (none ? LossAt(begin) - loss_.data() : 0);
    arguments.row_losses = row_losses_.data() + begin * SumsPerPart(batch_.score_type);
    arguments.mask = mask_.Rows(begin, rows);
    arguments.grad_scores = gradient_.Rows(begin, rows);
    BadLabels bad;
    Require(MultilabelMarginLoss(arguments, &bad));
    mask_.Written();
    gradient_.Written();
    if (bad_labels_.count == 0 && bad.count != 0) {
      bad_labels_ = {0, begin + bad.row, bad.column, bad.value};
    }
    bad_labels_.count += bad.count;
  }

  const LossOptions& options_;
  const Batch& batch_;
  Bytes loss_;
  std::vector<double> row_losses_;
  MatrixOutput mask_, gradient_;
  BadLabels bad_labels_;
};

// ---- What is said ----------------------------------------------------------------------------

nlohmann::json JsonOf(const LossRun& run, const LossOptions& options, const Batch& batch) {
  constexpr const char* kReductions[] = {"none", "mean", "sum"};
  nlohmann::json losses = nlohmann::json::array();
  for (int64_t n = 0; n < run.NumLosses(); ++n) {
    losses.push_back(ValueAt(batch.score_type, run.LossAt(n)));
  }
  const bool none = options.reduction == Reduction::kNone;
  nlohmann::json json = {{"rows", batch.rows()},
                         {"classes", batch.classes()},
                         {"labels", batch.labels->form()},
                         {"reduction", kReductions[static_cast<int>(options.reduction)]},
                         {"loss", none ? losses : losses[0]},
                         {"skipped_labels", run.bad_labels().count}};
  return json;
}

void PrintLosses(const LossRun& run, const Batch& batch) {
  for (int64_t n = 0; n < run.NumLosses(); ++n) {
    fmt::print("{}\n", TextOf(batch.score_type, run.LossAt(n)));
  }
}

void WriteLosses(const LossRun& run, const LossOptions& options, const Batch& batch) {
  std::vector<int64_t> shape;
  if (options.reduction == Reduction::kNone) shape.push_back(batch.rows());
  OutputFile file(options.output, batch.scores.element, shape);
  std::memcpy(file.data(), run.loss().data(), run.loss().size());
  file.Keep();
}

void WarnOfBadLabels(const BadLabels& bad, const Batch& batch) {
  if (bad.count == 0) return;
  fmt::print(
      stderr,
      "mlmargin: {} labels outside [-1, {}] were skipped; the first is {} at row {}, position "
      "{}; see mlmargin check\n",
      bad.count, batch.classes() - 1, bad.value, bad.row, bad.column);
}

}  // namespace

int RunLoss(const LossOptions& options) {
  const Batch batch = OpenBatch(options.files);
  LossRun run(options, batch);
  run.Run();
  WarnOfBadLabels(run.bad_labels(), batch);
  if (options.json) {
    fmt::print("{}\n", JsonOf(run, options, batch).dump());
  } else if (options.output == "-") {
    PrintLosses(run, batch);
  }
  if (options.output != "-") WriteLosses(run, options, batch);
  run.KeepFiles();
  return 0;
}

}  // namespace mlmargin::tools
