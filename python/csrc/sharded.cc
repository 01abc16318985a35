// SPDX-License-Identifier: Apache-2.0
// The steps of a loss over shards, on the CPU; python/mlmargin/sharded.py moves the data between
// them. Labels come padded, (N, K), and the input of a shard is (N, S).
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/library.h>

#include <tuple>

#include "arguments.h"
#include "mlmargin/sharded_loss.h"

namespace mlmargin::pytorch {
namespace {

ShardArguments CheckedShard(const at::Tensor& input, const at::Tensor& target,
                            const at::Tensor& label_scores, int64_t first_class,
                            int64_t num_classes) {
  TORCH_CHECK(input.dim() == 2 && target.dim() == 2 && target.size(0) == input.size(0),
              "multilabel_margin_loss: expected a shard of scores (N, S) and labels (N, K), got ",
              input.sizes(), " and ", target.sizes());
  TORCH_CHECK(
      label_scores.sizes() == target.sizes() && label_scores.scalar_type() == input.scalar_type(),
      "multilabel_margin_loss: label_scores: expected shape ", target.sizes(), " and type ",
      input.scalar_type(), ", got ", label_scores.sizes(), " and ", label_scores.scalar_type());
  ShardArguments arguments;
  arguments.rows = input.size(0);
  arguments.classes = num_classes;
  arguments.first_class = first_class;
  arguments.shard_classes = input.size(1);
  arguments.score_type = ScoreTypeOf(input.scalar_type(), "local_input");
  arguments.label_type = LabelTypeOf(target, "target");
  arguments.scores = ConstMatrixOf(input);
  arguments.labels = ConstMatrixOf(target);
  arguments.label_columns = target.size(1);
  arguments.label_scores = ConstMatrixOf(label_scores);
  arguments.max_threads = at::get_num_threads();
  return arguments;
}

std::tuple<at::Tensor, at::Tensor> ShardSums(const at::Tensor& input, const at::Tensor& target,
                                             const at::Tensor& label_scores, int64_t first_class,
                                             int64_t num_classes) {
  const ShardArguments arguments =
      CheckedShard(input, target, label_scores, first_class, num_classes);
  const int64_t parts = NumParts(num_classes, arguments.shard_classes);
  at::Tensor sums = at::empty({arguments.rows, parts, SumsPerPart(arguments.score_type)},
                              input.options().dtype(at::kDouble));
  at::Tensor counts = at::empty(target.sizes(), input.options().dtype(at::kLong));
  BadLabels bad;
  CheckStatus(SumShard(arguments, sums.data_ptr<double>(), counts.data_ptr<int64_t>(), &bad));
  CheckLabels(bad, "target", num_classes);
  return {sums, counts};
}

at::Tensor ShardReduce(const at::Tensor& part_sums, int64_t num_classes, at::ScalarType dtype,
                       int64_t reduction) {
  const ScoreType type = ScoreTypeOf(dtype, "dtype");
  TORCH_CHECK(part_sums.dim() == 3 && part_sums.size(2) == SumsPerPart(type) &&
                  part_sums.scalar_type() == at::kDouble,
              "multilabel_margin_loss: part_sums: expected Double of shape (N, parts, ",
              SumsPerPart(type), "), got ", part_sums.scalar_type(), " of ", part_sums.sizes());
  const int64_t rows = part_sums.size(0);
  const at::Tensor sums = part_sums.contiguous();
  const at::DimVector sizes = reduction == 0 ? at::DimVector{rows} : at::DimVector{};
  at::Tensor loss = at::empty(sizes, part_sums.options().dtype(dtype));
  if (loss.numel() == 0) return loss;
  CheckStatus(ReduceParts(sums.data_ptr<double>(), rows, sums.size(1), num_classes, type,
                          ReductionOf(reduction), loss.data_ptr()));
  return loss;
}

at::Tensor ShardGradient(const at::Tensor& grad_output, const at::Tensor& input,
                         const at::Tensor& target, const at::Tensor& label_scores,
                         const at::Tensor& label_counts, int64_t first_class, int64_t num_classes,
                         int64_t reduction) {
  ShardArguments arguments = CheckedShard(input, target, label_scores, first_class, num_classes);
  arguments.reduction = ReductionOf(reduction);
  CheckGradOutput(grad_output, input, reduction);
  TORCH_CHECK(label_counts.sizes() == target.sizes() && label_counts.scalar_type() == at::kLong,
              "multilabel_margin_loss: label_counts: expected Long of shape ", target.sizes(),
              ", got ", label_counts.scalar_type(), " of ", label_counts.sizes());
  const at::Tensor counts = label_counts.contiguous();
  const at::Tensor grad_loss = grad_output.contiguous();
  at::Tensor gradient = at::empty(input.sizes(), input.options());
  if (gradient.numel() == 0) return gradient;
  CheckStatus(GradientOfShard(arguments, counts.data_ptr<int64_t>(), grad_loss.data_ptr(),
                              {gradient.data_ptr(), input.size(1), 1}));
  return gradient;
}

}  // namespace

TORCH_LIBRARY_IMPL(mlmargin, CPU, m) {
  m.impl("shard_sums", &ShardSums);
  m.impl("shard_reduce", &ShardReduce);
  m.impl("shard_gradient", &ShardGradient);
}

}  // namespace mlmargin::pytorch
