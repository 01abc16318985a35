// SPDX-License-Identifier: Apache-2.0
#include "labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "error.h"
#include "plural.h"

namespace mlmargin::tools {
namespace {

constexpr int64_t kPieceBytes = int64_t{32} << 20;

template <typename... Args>
[[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) {
  throw ToolError(fmt::format(format, std::forward<Args>(args)...));
}

ScoreType ScoreTypeOf(const Array& scores) {
  switch (scores.element) {
    case Element::kFloat16:
      return ScoreType::kFloat16;
    case Element::kUint16:
      return ScoreType::kBFloat16;
    case Element::kFloat32:
      return ScoreType::kFloat32;
    case Element::kFloat64:
      return ScoreType::kFloat64;
    default:
      Fail(
          "{}: scores are {}; expected float16, float32, float64, or uint16 with the bits of "
          "bfloat16",
          scores.name, NameOf(scores.element));
  }
}

LabelType IndexTypeOf(const Array& array, const char* what, const char* hint = "") {
  if (array.element == Element::kInt32) return LabelType::kInt32;
  if (array.element == Element::kInt64) return LabelType::kInt64;
  Fail("{}: {} are {}; expected int32 or int64{}", array.name, what, NameOf(array.element), hint);
}

int64_t LoadIndex(LabelType type, const void* from) {
  if (type == LabelType::kInt64) {
    int64_t value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  int32_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

const std::byte* Advance(const void* from, LabelType type, int64_t elements) {
  const int64_t bytes = type == LabelType::kInt32 ? 4 : 8;
  return static_cast<const std::byte*>(from) + elements * bytes;
}

// ---- The forms -------------------------------------------------------------------------------

// For labels that are no class numbers.
const char* HintFor(const Array& labels, const Array& scores) {
  const bool same_shape = labels.rows == scores.rows && labels.columns == scores.columns;
  return same_shape ? "; for a 0/1 matrix add --multihot" : "";
}

class PaddedLabels final : public Labels {
 public:
  PaddedLabels(Array lists, const Array& scores)
      : lists_(std::move(lists)),
        type_(IndexTypeOf(lists_, "labels", HintFor(lists_, scores))),
        classes_(scores.columns) {
    if (lists_.rows != scores.rows || lists_.dimensions != scores.dimensions) {
      Fail(
          "{}: its shape is {}; expected {}, as the scores have the shape {}. For CSR give the "
          "offsets with --offsets",
          lists_.name, lists_.ShapeText(), CountOf(scores.rows, "row"), scores.ShapeText());
    }
  }
  const char* form() const override { return "padded"; }
  void SetRows(int64_t begin, LossArguments* arguments) override {
    arguments->label_type = type_;
    arguments->labels = {lists_.At(begin, 0), lists_.row_stride, lists_.column_stride};
    arguments->label_columns = lists_.columns;
  }
  bool LooksMultihot() const override {
    if (lists_.rows == 0 || lists_.columns != classes_ || classes_ <= 2) return false;
    for (int64_t row = 0; row < lists_.rows; ++row) {
      for (int64_t column = 0; column < lists_.columns; ++column) {
        const int64_t label = LoadIndex(type_, lists_.At(row, column));
        if (label != 0 && label != 1) return false;  // Soon, with lists.
      }
    }
    return true;
  }

 private:
  const Array lists_;
  const LabelType type_;
  const int64_t classes_;
};

class CsrLabels final : public Labels {
 public:
  CsrLabels(Array offsets, Array indices, const Array& scores)
      : offsets_(std::move(offsets)),
        indices_(std::move(indices)),
        offset_type_(IndexTypeOf(offsets_, "offsets")),
        index_type_(IndexTypeOf(indices_, "labels")) {
    if (offsets_.dimensions != 1 || offsets_.columns != scores.rows + 1) {
      Fail("{}: its shape is {}; expected ({},), one offset more than the scores have rows",
           offsets_.name, offsets_.ShapeText(), scores.rows + 1);
    }
    if (indices_.dimensions != 1) {
      Fail("{}: its shape is {}; expected one dimension, as --offsets is given", indices_.name,
           indices_.ShapeText());
    }
    CheckOffsets();
  }
  const char* form() const override { return "CSR"; }
  void SetRows(int64_t begin, LossArguments* arguments) override {
    arguments->label_type = index_type_;
    arguments->labels.data = indices_.data;
    arguments->label_columns = indices_.columns;
    arguments->label_offsets = offsets_.At(0, begin);
    arguments->offset_type = offset_type_;
  }

 private:
  void CheckOffsets() const {
    int64_t previous = 0;
    for (int64_t n = 0; n < offsets_.columns; ++n) {
      const int64_t offset = LoadIndex(offset_type_, offsets_.At(0, n));
      if (offset < previous || offset > indices_.columns) {
        Fail("{}: offset {} is {}; expected {} (the one before) to {} (the number of labels)",
             offsets_.name, n, offset, previous, indices_.columns);
      }
      previous = offset;
    }
  }

  const Array offsets_, indices_;
  const LabelType offset_type_, index_type_;
};

bool IsZero(const std::byte* element, size_t bytes) {
  return std::all_of(element, element + bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

// Makes CSR of the rows it is asked for.
class MultihotLabels final : public Labels {
 public:
  MultihotLabels(Array matrix, const Array& scores) : matrix_(std::move(matrix)) {
    if (matrix_.rows == scores.rows && matrix_.columns == scores.columns) return;
    Fail("{}: its shape is {}; expected that of the scores, {}, as --multihot is given",
         matrix_.name, matrix_.ShapeText(), scores.ShapeText());
  }
  const char* form() const override { return "multi-hot"; }
  void SetRows(int64_t begin, LossArguments* arguments) override {
    indices_.clear();
    offsets_.assign(1, 0);
    for (int64_t row = begin; row < begin + arguments->rows; ++row) {
      AppendRow(row);
      offsets_.push_back(static_cast<int64_t>(indices_.size()));
    }
    arguments->label_type = LabelType::kInt64;
    arguments->labels.data = indices_.data();
    arguments->label_columns = static_cast<int64_t>(indices_.size());
    arguments->label_offsets = offsets_.data();
    arguments->offset_type = LabelType::kInt64;
  }

 private:
  void AppendRow(int64_t row) {
    const size_t bytes = BytesOf(matrix_.element);
    for (int64_t column = 0; column < matrix_.columns; ++column) {
      if (!IsZero(matrix_.At(row, column), bytes)) indices_.push_back(column);
    }
  }

  const Array matrix_;
  std::vector<int64_t> indices_, offsets_;
};

std::unique_ptr<Labels> OpenLabels(const BatchFiles& files, const Array& scores) {
  if (files.multihot && !files.offsets.empty()) {
    Fail("--multihot and --offsets do not go together: labels are a 0/1 matrix or CSR");
  }
  if (!files.offsets.empty()) {
    return std::make_unique<CsrLabels>(OpenArray(files.offsets), OpenArray(files.labels), scores);
  }
  if (std::optional<CsrFile> csr = OpenCsr(files.labels)) {
    if (csr->rows != scores.rows || csr->classes > scores.columns) {
      Fail("{}: a sparse matrix of shape ({}, {}); expected that of the scores, {}", files.labels,
           csr->rows, csr->classes, scores.ShapeText());
    }
    return std::make_unique<CsrLabels>(std::move(csr->offsets), std::move(csr->indices), scores);
  }
  Array labels = OpenArray(files.labels);
  if (files.multihot) return std::make_unique<MultihotLabels>(std::move(labels), scores);
  return std::make_unique<PaddedLabels>(std::move(labels), scores);
}

}  // namespace

Batch OpenBatch(const BatchFiles& files) {
  Batch batch;
  batch.scores = OpenArray(files.scores);
  batch.score_type = ScoreTypeOf(batch.scores);
  if (batch.classes() == 0) {
    Fail("{}: its shape is {}; expected at least one class", files.scores,
         batch.scores.ShapeText());
  }
  batch.labels = OpenLabels(files, batch.scores);
  return batch;
}

int64_t RowsOfPiece(const Batch& batch) {
  const int64_t row_bytes = batch.classes() * static_cast<int64_t>(BytesOf(batch.scores.element));
  return std::clamp<int64_t>(kPieceBytes / row_bytes, 1, std::max<int64_t>(batch.rows(), 1));
}

LossArguments PieceOf(const Batch& batch, int64_t begin, int64_t rows) {
  LossArguments arguments;
  arguments.rows = rows;
  arguments.classes = batch.classes();
  arguments.score_type = batch.score_type;
  arguments.scores = {batch.scores.At(begin, 0), batch.scores.row_stride,
                      batch.scores.column_stride};
  batch.labels->SetRows(begin, &arguments);
  return arguments;
}

int64_t ListLength(const LossArguments& arguments, int64_t n) {
  if (arguments.label_offsets == nullptr) return arguments.label_columns;
  const auto offset = [&](int64_t at) {
    return LoadIndex(arguments.offset_type,
                     Advance(arguments.label_offsets, arguments.offset_type, at));
  };
  return offset(n + 1) - offset(n);
}

int64_t LabelAt(const LossArguments& arguments, int64_t n, int64_t k) {
  int64_t at = 0;
  if (arguments.label_offsets == nullptr) {
    at = n * arguments.labels.row_stride + k * arguments.labels.column_stride;
  } else {
    at = k + LoadIndex(arguments.offset_type,
                       Advance(arguments.label_offsets, arguments.offset_type, n));
  }
  return LoadIndex(arguments.label_type, Advance(arguments.labels.data, arguments.label_type, at));
}

}  // namespace mlmargin::tools
