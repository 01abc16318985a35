// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <ATen/Parallel.h>

#include <string>

#include "mlmargin/status.h"

namespace mlmargin::pytorch {
namespace {

// Where an option would have let them through.
bool AreListsOfAnotherLength(const at::Tensor& input, const at::Tensor& target) {
  return input.dim() > 0 && target.dim() == input.dim() &&
         (input.dim() == 1 || target.size(0) == input.size(0));
}

void CheckTargetShape(const at::Tensor& input, const at::Tensor& target) {
  // PyTorch takes () and (1) for each other.
  const bool same = input.dim() == 2 ? target.sizes() == input.sizes()
                                     : target.dim() <= 1 && target.numel() == input.numel();
  TORCH_CHECK(
      same, "multilabel_margin_loss: inconsistent target size: ", target.sizes(),
      " for input of size: ", input.sizes(), "; expected equal shapes",
      AreListsOfAnotherLength(input, target) ? " (padded=True takes lists of any length)" : "");
}

void CheckPaddedShape(const at::Tensor& input, const at::Tensor& labels) {
  const bool fits =
      input.dim() == 2 ? labels.dim() == 2 && labels.size(0) == input.size(0) : labels.dim() <= 1;
  TORCH_CHECK(fits, "multilabel_margin_loss: inconsistent target size: ", labels.sizes(),
              " for input of size: ", input.sizes(),
              "; with padded=True expected (N, K) for an input (N, C), (K) for an input (C)");
}

void CheckCsrShape(int64_t rows, const Labels& labels) {
  const at::Tensor& offsets = labels.offsets;
  TORCH_CHECK(labels.list.dim() == 1,
              "multilabel_margin_loss_csr: indices: expected 1 dimension, got shape ",
              labels.list.sizes());
  TORCH_CHECK(offsets.dim() == 1 && offsets.size(0) == rows + 1,
              "multilabel_margin_loss_csr: offsets: expected shape [", rows + 1, "] for ", rows,
              " rows of input, got ", offsets.sizes());
}

void CheckInputShape(const at::Tensor& input) {
  TORCH_CHECK(input.dim() <= 2, "multilabel_margin_loss: input has ", input.dim(),
              " dimensions (shape ", input.sizes(), "); expected 0, 1 or 2: (), (C) or (N, C)");
  TORCH_CHECK(input.dim() == 0 || input.size(-1) > 0, "multilabel_margin_loss: input of size ",
              input.sizes(), " has no classes; expected at least 1 in the last dimension");
}

void SetCsr(const Labels& labels, LossArguments* arguments) {
  arguments->label_columns = labels.list.size(0);
  arguments->offset_type = LabelTypeOf(labels.offsets, "offsets");
}

}  // namespace

ScoreType ScoreTypeOf(at::ScalarType type, const char* argument) {
  switch (type) {
    case at::kFloat:
      return ScoreType::kFloat32;
    case at::kHalf:
      return ScoreType::kFloat16;
    case at::kBFloat16:
      return ScoreType::kBFloat16;
    case at::kDouble:
      return ScoreType::kFloat64;
    default:
      TORCH_CHECK(false, "multilabel_margin_loss: ", argument,
                  ": expected scalar type Float, Half, BFloat16 or Double but found ", type);
  }
}

LabelType LabelTypeOf(const at::Tensor& tensor, const char* argument) {
  const at::ScalarType type = tensor.scalar_type();
  TORCH_CHECK(type == at::kInt || type == at::kLong, "multilabel_margin_loss: ", argument,
              ": expected scalar type Int or Long but found ", type);
  return type == at::kInt ? LabelType::kInt32 : LabelType::kInt64;
}

Reduction ReductionOf(int64_t reduction) {
  switch (reduction) {
    case 0:
      return Reduction::kNone;
    case 1:
      return Reduction::kMean;
    case 2:
      return Reduction::kSum;
    default:
      TORCH_CHECK(false,
                  "multilabel_margin_loss: reduction: expected 0 (none), 1 (mean) or "
                  "2 (sum), got ",
                  reduction);
  }
}

ConstMatrix ConstMatrixOf(const at::Tensor& tensor) {
  // The stride of a dimension that is never stepped over may be anything.
  const bool one_row = tensor.dim() < 2 || tensor.size(0) <= 1;
  const bool one_column = tensor.dim() == 0 || tensor.size(-1) <= 1;
  return {tensor.data_ptr(), one_row ? 0 : tensor.stride(0), one_column ? 1 : tensor.stride(-1)};
}

LossArguments CheckedArguments(const at::Tensor& input, const Labels& labels, int64_t reduction) {
  LossArguments arguments;
  arguments.score_type = ScoreTypeOf(input.scalar_type(), "input");
  arguments.label_type = LabelTypeOf(labels.list, labels.name());
  arguments.reduction = ReductionOf(reduction);
  CheckInputShape(input);
  CheckSameDevice(labels.list, labels.name(), input);
  arguments.rows = input.dim() == 2 ? input.size(0) : 1;
  arguments.classes = input.dim() == 0 ? 1 : input.size(-1);
  if (labels.layout == Layout::kCsr) {
    CheckSameDevice(labels.offsets, "offsets", input);
    CheckCsrShape(arguments.rows, labels);
    SetCsr(labels, &arguments);
  } else {
    if (labels.layout == Layout::kTarget) CheckTargetShape(input, labels.list);
    if (labels.layout == Layout::kPadded) CheckPaddedShape(input, labels.list);
    arguments.label_columns = labels.list.dim() == 0 ? 1 : labels.list.size(-1);
  }
  arguments.max_threads = at::get_num_threads();
  return arguments;
}

at::DimVector LossSizes(const at::Tensor& input, int64_t reduction) {
  if (input.dim() == 2 && reduction == 0) return {input.size(0)};
  return {};
}

void CheckGradOutput(const at::Tensor& grad_output, const at::Tensor& input, int64_t reduction) {
  const at::DimVector expected = LossSizes(input, reduction);
  TORCH_CHECK(grad_output.scalar_type() == input.scalar_type(),
              "multilabel_margin_loss: grad_output: expected scalar type ", input.scalar_type(),
              " but found ", grad_output.scalar_type());
  TORCH_CHECK(grad_output.sizes() == at::IntArrayRef(expected),
              "multilabel_margin_loss: grad_output: expected shape ", at::IntArrayRef(expected),
              ", got ", grad_output.sizes());
  CheckSameDevice(grad_output, "grad_output", input);
}

void CheckSameDevice(const at::Tensor& tensor, const char* argument, const at::Tensor& input) {
  TORCH_CHECK(tensor.device() == input.device(), "multilabel_margin_loss: ", argument,
              ": expected device ", input.device(), ", that of input, but found ", tensor.device());
}

void CheckStatus(const Status& status) {
  // By the name that they have here.
  static const std::string kOffsets = "label_offsets";
  TORCH_CHECK(status.message().rfind(kOffsets, 0) != 0, "multilabel_margin_loss_csr: offsets",
              status.message().substr(kOffsets.size()),
              " (none is below the one before it, or above the number of indices)");
  TORCH_CHECK(status.ok(), "multilabel_margin_loss: ", status.message());
}

void CheckLabels(const BadLabels& bad, const char* labels, int64_t classes) {
  TORCH_CHECK(bad.count == 0, "multilabel_margin_loss: argument '", labels,
              "' is out of range: row ", bad.row, " has the label ", bad.value, " at position ",
              bad.column, "; expected labels in [0, ", classes,
              "), or -1 at the end of a row's list (", bad.count, " such in all)");
}

}  // namespace mlmargin::pytorch
