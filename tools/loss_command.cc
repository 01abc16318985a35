// SPDX-License-Identifier: Apache-2.0
// mlmargin loss: some rows at a time, so that files may be larger than memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "error.h"
#include "mlmargin/sharded_loss.h"
#include "output_file.h"
#include "plural.h"
#include "progress.h"
#include "score_value.h"

namespace mlmargin::tools {
namespace {

using Bytes = std::vector<std::byte>;

void Require(const Status& status) {
  if (!status.ok()) throw ToolError(status.message());
}

// ---- Values as text --------------------------------------------------------------------------

// The shortest digits that are this number and no other of its type.
std::string TextOf(ScoreType type, const std::byte* from) {
  const double value = ScoreValue(type, from);
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
        gradient_(options.gradient, batch) {
    if (options.output == "-") return;
    std::vector<int64_t> shape;
    if (options.reduction == Reduction::kNone) shape.push_back(batch.rows());
    loss_file_.emplace(options.output, batch.scores.element, shape);
  }

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
    if (!loss_file_) return;
    std::memcpy(loss_file_->data(), loss_.data(), loss_.size());
    loss_file_->Keep();
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
  std::optional<OutputFile> loss_file_;
  BadLabels bad_labels_;
};

// ---- What is said ----------------------------------------------------------------------------

nlohmann::json JsonOf(const LossRun& run, const LossOptions& options, const Batch& batch) {
  constexpr const char* kReductions[] = {"none", "mean", "sum"};
  nlohmann::json losses = nlohmann::json::array();
  for (int64_t n = 0; n < run.NumLosses(); ++n) {
    losses.push_back(ScoreValue(batch.score_type, run.LossAt(n)));
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

// The name of the matrix that is to be printed: its rows come as they are made, so there can be
// one. A program that reads JSON wants nothing beside it, and no matrix in it.
std::optional<const char*> PrintedMatrix(const LossOptions& options) {
  const bool mask = options.mask == "-", gradient = options.gradient == "-";
  if (mask && gradient) {
    throw ToolError("--mask - and --gradient - print two matrices; write one to a .npy file");
  }
  if ((mask || gradient) && options.json) {
    throw ToolError(fmt::format("{} - prints a matrix; with --json it must go to a .npy file",
                                mask ? "--mask" : "--gradient"));
  }
  if (mask) return "mask";
  if (gradient) return "gradient";
  return std::nullopt;
}

// The file that an array is in.
std::filesystem::path FileOf(const std::string& array) {
  const size_t colon = array.rfind(".npz:");
  return std::filesystem::weakly_canonical(colon == std::string::npos ? array
                                                                      : array.substr(0, colon + 4));
}

// Else outputs would be written into each other, or replace what they are made from.
void RequireDifferentFiles(const LossOptions& options) {
  std::vector<std::pair<std::string, std::filesystem::path>> files;
  const std::pair<const char*, const std::string&> inputs[] = {
      {"SCORES", options.files.scores},
      {"LABELS", options.files.labels},
      {"--offsets", options.files.offsets}};
  for (const auto& [name, path] : inputs) {
    if (!path.empty()) files.emplace_back(name, FileOf(path));
  }
  const std::pair<const char*, const std::string&> outputs[] = {
      {"--output", options.output}, {"--mask", options.mask}, {"--gradient", options.gradient}};
  for (const auto& [option, path] : outputs) {
    if (path.empty() || path == "-") continue;
    const std::filesystem::path file = std::filesystem::weakly_canonical(path);
    for (const auto& [other, other_file] : files) {
      if (file != other_file) continue;
      throw ToolError(fmt::format("{} and {} name one file, {}; expected another for {}", other,
                                  option, path, option));
    }
    files.emplace_back(option, file);
  }
}

void WarnOfBadLabels(const BadLabels& bad, const Batch& batch) {
  if (bad.count == 0) return;
  fmt::print(
      stderr,
      "mlmargin: {} outside [-1, {}] {} skipped; the first is {} at row {}, position {}; see "
      "mlmargin check\n",
      CountOf(bad.count, "label"), batch.classes() - 1, bad.count == 1 ? "was" : "were", bad.value,
      bad.row, bad.column);
}

void WarnOfMultihot(const Batch& batch) {
  if (!batch.labels->LooksMultihot()) return;
  fmt::print(stderr,
             "mlmargin: the labels are all 0 and 1 in the shape of the scores; they were taken for "
             "lists of class numbers. For a 0/1 matrix add --multihot\n");
}

}  // namespace

int RunLoss(const LossOptions& options) {
  RequireDifferentFiles(options);
  const std::optional<const char*> matrix = PrintedMatrix(options);
  const bool prints_loss = options.output == "-" && !options.json;
  const Batch batch = OpenBatch(options.files);
  LossRun run(options, batch);
  if (matrix && prints_loss) fmt::print("{}:\n", *matrix);
  run.Run();
  WarnOfMultihot(batch);
  WarnOfBadLabels(run.bad_labels(), batch);
  run.KeepFiles();
  if (options.json) {
    fmt::print("{}\n", JsonOf(run, options, batch).dump());
  } else if (prints_loss) {
    if (matrix) fmt::print("loss:\n");
    PrintLosses(run, batch);
  }
  return 0;
}

}  // namespace mlmargin::tools
