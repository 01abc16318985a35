// SPDX-License-Identifier: Apache-2.0
#include "kernel/check_arguments.h"

#include <initializer_list>

#include "kernel/row_arguments.h"

namespace mlmargin::kernel {
namespace {

Status CheckAtLeast(const char* argument, int64_t least, int64_t got) {
  if (got >= least) return {};
  return InvalidArgument(argument, (">= " + std::to_string(least)).c_str(), std::to_string(got));
}

// Reads all offsets: a wrong one would be an address.
Status CheckOffsets(const LossArguments& args) {
  int64_t previous = 0;
  for (int64_t n = 0; n <= args.rows; ++n) {
    const int64_t offset = LabelOffset(args, n);
    if (offset < previous || offset > args.label_columns) {
      return InvalidArgument("label_offsets",
                             ("from " + std::to_string(previous) + " to " +
                              std::to_string(args.label_columns) + " at " + std::to_string(n))
                                 .c_str(),
                             std::to_string(offset));
    }
    previous = offset;
  }
  return {};
}

// What a mean divides by is to be a double, exactly.
Status CheckMeanRows(const LossArguments& args) {
  if (args.mean_rows == 0) return {};
  const int64_t most = (int64_t{1} << 53) / args.classes;
  if (args.mean_rows >= args.rows && args.mean_rows <= most) return {};
  return InvalidArgument("mean_rows",
                         ("0, or from the number of rows, " + std::to_string(args.rows) +
                          ", to 2^53 / classes, " + std::to_string(most))
                             .c_str(),
                         std::to_string(args.mean_rows));
}

// That a number which came as an enumerator is one.
template <typename Enum>
Status CheckEnum(const char* argument, const char* expected, Enum got, Enum last) {
  const auto number = static_cast<int64_t>(got);
  if (number >= 0 && number <= static_cast<int64_t>(last)) return {};
  return InvalidArgument(argument, expected, std::to_string(number));
}

Status CheckLabelType(const char* argument, LabelType type) {
  return CheckEnum(argument, "a LabelType", type, LabelType::kInt64);
}

// The first of some that is not ok.
Status FirstError(std::initializer_list<Status> all) {
  for (const Status& status : all) {
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Status InvalidArgument(const char* argument, const char* expected, const std::string& got) {
  return {StatusCode::kInvalidArgument,
          std::string(argument) + " must be " + expected + ", got " + got};
}

Status CheckData(const char* argument, const void* data, bool needed) {
  if (data != nullptr || !needed) return {};
  return InvalidArgument(argument, "a pointer to data", "null");
}

Status CheckScoreType(ScoreType type) {
  return CheckEnum("score_type", "a ScoreType", type, ScoreType::kFloat64);
}

Status CheckReduction(Reduction reduction) {
  return CheckEnum("reduction", "a Reduction", reduction, Reduction::kSum);
}

Status CheckArguments(const LossArguments& args) {
  Status status =
      FirstError({CheckAtLeast("rows", 0, args.rows), CheckAtLeast("classes", 1, args.classes),
                  CheckAtLeast("label_columns", 0, args.label_columns),
                  CheckAtLeast("max_threads", 0, args.max_threads), CheckScoreType(args.score_type),
                  CheckLabelType("label_type", args.label_type),
                  CheckLabelType("offset_type", args.offset_type), CheckReduction(args.reduction)});
  if (status.ok()) status = CheckMeanRows(args);
  if (!status.ok()) return status;
  // A gradient of no rows has no address, and neither has a loss of none.
  const bool nothing_to_write = args.rows == 0 && args.reduction == Reduction::kNone;
  if (args.loss == nullptr && args.grad_scores.data == nullptr && !nothing_to_write) {
    return InvalidArgument("loss or grad_scores", "a pointer to data", "null for both");
  }
  status = CheckData("scores", args.scores.data, args.rows > 0);
  if (status.ok()) {
    status = CheckData("labels", args.labels.data, args.rows > 0 && args.label_columns > 0);
  }
  if (status.ok() && args.label_offsets != nullptr) status = CheckOffsets(args);
  return status;
}

Status CheckShard(const ShardArguments& args) {
  Status status =
      FirstError({CheckAtLeast("rows", 0, args.rows), CheckAtLeast("classes", 1, args.classes),
                  CheckAtLeast("first_class", 0, args.first_class),
                  CheckAtLeast("shard_classes", 0, args.shard_classes),
                  CheckAtLeast("label_columns", 0, args.label_columns),
                  CheckAtLeast("max_threads", 0, args.max_threads), CheckScoreType(args.score_type),
                  CheckLabelType("label_type", args.label_type), CheckReduction(args.reduction)});
  if (!status.ok()) return status;
  if (args.first_class > args.classes || args.shard_classes > args.classes - args.first_class) {
    return InvalidArgument(
        "first_class + shard_classes",
        ("at most the " + std::to_string(args.classes) + " classes").c_str(),
        std::to_string(args.first_class) + " + " + std::to_string(args.shard_classes));
  }
  if (args.rows > 0 && args.shard_classes > 0) status = CheckData("scores", args.scores.data);
  if (args.rows == 0 || args.label_columns == 0) return status;
  return FirstError({status, CheckData("labels", args.labels.data),
                     CheckData("label_scores", args.label_scores.data)});
}

}  // namespace mlmargin::kernel
