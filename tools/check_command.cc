// SPDX-License-Identifier: Apache-2.0
// mlmargin check: what is wrong with labels, before a training finds out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "plural.h"
#include "progress.h"
#include "score_value.h"

namespace mlmargin::tools {
namespace {

// One kind of problem: how often, and where first.
struct Finding {
  const char* key;  // In JSON.
  const char* what;
  const char* one;  // The same for a count of 1.
  const char* hint;
  bool is_wrong;  // Else only worth knowing.
  int64_t count = 0;
  int64_t row = -1;
  int64_t position = -1;
  std::optional<int64_t> value = std::nullopt;  // Of a label.

  // Without a position: of a whole row.
  void Note(int64_t at_row, int64_t at_position = -1, std::optional<int64_t> label = {}) {
    if (count++ != 0) return;
    row = at_row;
    position = at_position;
    value = label;
  }
};

class LabelCheckRun {
 public:
  explicit LabelCheckRun(const Batch& batch) : batch_(batch) {
    seen_in_row_.assign(static_cast<size_t>(batch.classes()), -1);
  }

  void Run() {
    const int64_t step = RowsOfPiece(batch_);
    Progress progress("rows", batch_.rows());
    for (int64_t begin = 0; begin < batch_.rows(); begin += step) {
      const int64_t rows = std::min(step, batch_.rows() - begin);
      const LossArguments piece = PieceOf(batch_, begin, rows);
      for (int64_t n = 0; n < rows; ++n) {
        CheckScores(begin + n);
        CheckRow(piece, n, begin + n);
      }
      progress.Set(begin);
    }
    // Padding by 0 shows over all rows: none has the -1 that would end its list.
    if (any_end_ || num_zero_tails_ * 2 < batch_.rows()) zero_padding_.count = 0;
    if (!batch_.labels->LooksMultihot()) return;
    looks_multihot_.Note(0);
    zero_padding_.count = repeated_.count = 0;  // As a matter of course.
  }

  bool IsWrong() const {
    return std::any_of(std::begin(findings_), std::end(findings_), [](const Finding* finding) {
      return finding->is_wrong && finding->count > 0;
    });
  }

  nlohmann::json Json() const {
    nlohmann::json findings = nlohmann::json::object();
    for (const Finding* finding : findings_) {
      if (finding->count == 0) continue;
      findings[finding->key] = {{"count", finding->count}, {"first_row", finding->row}};
      if (finding->position < 0) continue;
      findings[finding->key]["first_position"] = finding->position;
      if (finding->value) findings[finding->key]["first_value"] = *finding->value;
    }
    return {{"rows", batch_.rows()}, {"classes", batch_.classes()}, {"form", batch_.labels->form()},
            {"labels", num_labels_}, {"fewest_labels", Fewest()},   {"most_labels", most_},
            {"findings", findings},  {"wrong", IsWrong()}};
  }

  void Print() const {
    fmt::print(
        "{}, {}, {} ({} to {} a row, {:.4g} in the mean), {}\n", CountOf(batch_.rows(), "row"),
        ClassText(), CountOf(num_labels_, "label"), Fewest(), most_,
        batch_.rows() == 0 ? 0.0
                           : static_cast<double>(num_labels_) / static_cast<double>(batch_.rows()),
        batch_.labels->form());
    for (const Finding* finding : findings_) PrintFinding(*finding);
    if (!IsWrong()) fmt::print("nothing is wrong\n");
  }

 private:
  int64_t Fewest() const { return batch_.rows() == 0 ? 0 : fewest_; }

  static void PrintFinding(const Finding& finding) {
    if (finding.count == 0) return;
    std::string where = fmt::format("first in row {}", finding.row);
    if (finding.position >= 0) {
      where += fmt::format(", position {}", finding.position);
      if (finding.value) where += fmt::format(": {}", *finding.value);
    }
    fmt::print("{}: {} {} ({}). {}\n", finding.is_wrong ? "wrong" : "note", finding.count,
               finding.count == 1 ? finding.one : finding.what, where, finding.hint);
  }

  std::string ClassText() const {
    return batch_.classes() == 1 ? "1 class" : fmt::format("{} classes", batch_.classes());
  }

  void CheckScores(int64_t row) {
    for (int64_t i = 0; i < batch_.classes(); ++i) {
      const double score = ScoreValue(batch_.score_type, batch_.scores.At(row, i));
      if (std::isnan(score)) nan_.Note(row, i);
      if (std::isinf(score)) infinite_.Note(row, i);
    }
  }

  void CheckRow(const LossArguments& piece, int64_t n, int64_t row) {
    const int64_t length = ListLength(piece, n);
    int64_t labels = 0, position = 0, trailing_zeros = 0;
    for (; position < length; ++position) {
      const int64_t label = LabelAt(piece, n, position);
      if (label == -1) break;
      trailing_zeros = label == 0 ? trailing_zeros + 1 : 0;
      labels += CheckLabel(row, position, label);
    }
    CheckEnd(piece, n, row, position, length);
    // A list that ends in several zeros and is not one of them alone.
    if (trailing_zeros >= 2 && piece.label_offsets == nullptr) {
      ++num_zero_tails_;
      zero_padding_.Note(row, length - trailing_zeros, 0);
    }
    if (labels == 0) no_label_.Note(row);
    if (labels == batch_.classes()) all_labels_.Note(row);
    num_labels_ += labels;
    fewest_ = std::min(fewest_, labels);
    most_ = std::max(most_, labels);
  }

  // Returns 1 for a label that counts as one of the row's classes.
  int64_t CheckLabel(int64_t row, int64_t position, int64_t label) {
    if (label < 0 || label >= batch_.classes()) {
      out_of_range_.Note(row, position, label);
      return 0;
    }
    int64_t& seen = seen_in_row_[static_cast<size_t>(label)];
    if (seen == row) {
      repeated_.Note(row, position, label);
      return 0;
    }
    seen = row;
    return 1;
  }

  // What stands behind the -1 at `position`, if the list ends there.
  void CheckEnd(const LossArguments& piece, int64_t n, int64_t row, int64_t position,
                int64_t length) {
    if (position == length) return;
    any_end_ = true;
    for (int64_t k = position + 1; k < length; ++k) {
      const int64_t label = LabelAt(piece, n, k);
      if (label != -1) return after_end_.Note(row, k, label);
    }
  }

  const Batch& batch_;
  std::vector<int64_t> seen_in_row_;  // By class: the last row that listed it.
  int64_t num_labels_ = 0;
  int64_t fewest_ = std::numeric_limits<int64_t>::max();
  int64_t most_ = 0;
  int64_t num_zero_tails_ = 0;
  bool any_end_ = false;

  Finding out_of_range_ = {"out_of_range", "labels out of range", "label out of range",
                           "Expected 0 to the number of classes less 1, or -1 behind the last.",
                           true};
  Finding repeated_ = {"repeated", "labels listed again in their row",
                       "label listed again in its row", "Each counts as often as it is listed.",
                       true};
  Finding zero_padding_ = {"zero_padding", "lists that end in zeros, and none ends in -1",
                           "list that ends in zeros, and none ends in -1",
                           "Lists are padded by -1; 0 is the first class.", true};
  Finding after_end_ = {"after_end", "rows with labels behind a -1", "row with labels behind a -1",
                        "The first -1 ends a list; these are not read.", true};
  Finding looks_multihot_ = {"looks_multihot", "", "matrix of 0 and 1 in the shape of the scores",
                             "It was taken for lists of class numbers; --multihot makes it a 0/1 "
                             "matrix.",
                             true};
  Finding nan_ = {"nan_scores", "scores that are NaN", "score that is NaN",
                  "It takes part in no hinge.", true};
  Finding infinite_ = {"infinite_scores", "scores that are infinite", "score that is infinite",
                       "The loss of its row may be infinite.", false};
  Finding no_label_ = {"no_label", "rows without a label that counts",
                       "row without a label that counts", "Their loss is 0.", false};
  Finding all_labels_ = {"all_labels", "rows with every class as a label",
                         "row with every class as a label", "Their loss is 0.", false};
  const Finding* const findings_[9] = {&out_of_range_, &repeated_, &zero_padding_,
                                       &after_end_,    &nan_,      &looks_multihot_,
                                       &infinite_,     &no_label_, &all_labels_};
};

}  // namespace

int RunCheck(const CheckOptions& options) {
  const Batch batch = OpenBatch(options.files);
  LabelCheckRun run(batch);
  run.Run();
  if (options.json) {
    fmt::print("{}\n", run.Json().dump());
  } else {
    run.Print();
  }
  return run.IsWrong() ? 1 : 0;
}

}  // namespace mlmargin::tools
