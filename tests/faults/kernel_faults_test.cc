// SPDX-License-Identifier: Apache-2.0
// Whatever cannot be had during calls of the C++ API: each is kOutOfMemory with words, and the same
// call made again gives the right result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "faults/fault_sweep.h"
#include "mlmargin/settings.h"
#include "mlmargin/sharded_loss.h"

namespace mlmargin::testing {
namespace {

constexpr int32_t kOutOfMemory = static_cast<int32_t>(StatusCode::kOutOfMemory);

bool last_status_has_words = false;

int32_t CodeOf(const Status& status) {
  last_status_has_words = !status.message().empty();
  return static_cast<int32_t>(status.code());
}

bool IsShortageCode(int32_t code) { return code == kOutOfMemory; }
bool HasMessage() { return last_status_has_words; }

// Rows with `labels` labels, the even classes, and equal scores: every hinge is 1. What the flow
// needs is made before a fault is armed for it.
struct Problem {
  Problem(int64_t num_rows, int64_t num_classes, int64_t num_labels)
      : rows(num_rows), classes(num_classes), labels(num_labels) {
    for (int64_t n = 0; n < rows; ++n) {
      offsets.push_back(n * labels);
      for (int64_t i = 0; i < labels; ++i) label_lists.push_back(2 * i);
    }
    offsets.push_back(rows * labels);
  }

  LossArguments Arguments(ScoreType type) {
    LossArguments call;
    call.rows = rows;
    call.classes = classes;
    call.score_type = type;
    call.scores = {scores.data(), classes};
    call.labels = {label_lists.data(), labels};
    call.label_columns = labels;
    call.loss = &loss;
    return call;
  }
  double RowLoss() const {
    return static_cast<double>(labels * (classes - labels)) / static_cast<double>(classes);
  }
  bool LossIs(ScoreType type, double expected) const {
    return type == ScoreType::kFloat64 ? loss.wide == expected
                                       : loss.narrow == static_cast<float>(expected);
  }

  const int64_t rows, classes, labels;
  std::vector<int64_t> label_lists;
  std::vector<int64_t> offsets;
  std::vector<double> scores = std::vector<double>(static_cast<size_t>(rows * classes));
  std::vector<double> gradient = std::vector<double>(static_cast<size_t>(rows * classes));
  std::vector<double> part_sums = std::vector<double>(size_t{1} << 12);
  std::vector<int64_t> counts = std::vector<int64_t>(static_cast<size_t>(rows * labels));
  union {
    float narrow;
    double wide;
  } loss{};
};

Problem& Rows() {  // Split by rows.
  static Problem& problem = *new Problem(200, 256, 80);
  return problem;
}
Problem& Row() {  // Split by classes.
  static Problem& problem = *new Problem(1, 40960, 80);
  return problem;
}

bool RunLoss(FlowRun& run, const char* what, Problem& problem, const LossArguments& call) {
  problem.loss = {};
  if (!run.Do(what, [&] { return CodeOf(MultilabelMarginLoss(call, nullptr)); })) return false;
  const double rows = call.reduction == Reduction::kSum ? static_cast<double>(problem.rows) : 1;
  run.Check(what, problem.LossIs(call.score_type, rows * problem.RowLoss()));
  return true;
}

bool RunLosses(FlowRun& run, Problem& problem) {
  for (const ScoreType type : {ScoreType::kFloat32, ScoreType::kFloat64}) {
    LossArguments call = problem.Arguments(type);
    if (!RunLoss(run, "the mean", problem, call)) return false;
    call.reduction = Reduction::kSum;
    call.grad_scores = {problem.gradient.data(), problem.classes};
    if (!RunLoss(run, "the sum and its gradient", problem, call)) return false;
    call.label_offsets = problem.offsets.data();
    call.label_columns = problem.rows * problem.labels;
    if (!RunLoss(run, "the sum of lists in CSR form", problem, call)) return false;
  }
  return true;
}

bool RejectLabels(FlowRun& run, Problem& problem) {
  LossArguments call = problem.Arguments(ScoreType::kFloat32);
  call.reject_bad_labels = true;
  problem.label_lists[0] = problem.classes;
  const bool done = run.Do("refused labels", [&] {
    const int32_t code = CodeOf(MultilabelMarginLoss(call, nullptr));
    return code == static_cast<int32_t>(StatusCode::kLabelOutOfRange) ? 0 : code;
  });
  problem.label_lists[0] = 0;
  return done;
}

// One shard of all classes.
bool RunShard(FlowRun& run, Problem& problem, ScoreType type) {
  ShardArguments shard;
  shard.rows = problem.rows;
  shard.classes = shard.shard_classes = problem.classes;
  shard.score_type = type;
  shard.scores = {problem.scores.data(), problem.classes};
  shard.labels = {problem.label_lists.data(), problem.labels};
  shard.label_columns = problem.labels;
  shard.label_scores = {problem.scores.data(), problem.labels};
  problem.loss = {};
  const bool done = run.Do("SumShard", [&] {
    return CodeOf(SumShard(shard, problem.part_sums.data(), problem.counts.data(), nullptr));
  }) && run.Do("ReduceParts", [&] {
    return CodeOf(ReduceParts(problem.part_sums.data(), problem.rows,
                              NumParts(problem.classes, problem.classes), problem.classes, type,
                              Reduction::kMean, &problem.loss));
  }) && run.Do("GradientOfShard", [&] {
    return CodeOf(GradientOfShard(shard, problem.counts.data(), nullptr,
                                  {problem.gradient.data(), problem.classes}));
  });
  run.Check("the loss of a shard", problem.LossIs(type, problem.RowLoss()));
  return done;
}

void RunKernelFlow(Attempt attempt) {
  FlowRun run(attempt, {&IsShortageCode, &HasMessage});
  RunLosses(run, Rows()) && RunLosses(run, Row()) && RejectLabels(run, Rows()) &&
      RunShard(run, Rows(), ScoreType::kFloat32) && RunShard(run, Rows(), ScoreType::kFloat64);
}

class KernelFaultsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("MLMARGIN_NUM_THREADS", "2", /*overwrite=*/1);
    setenv("MLMARGIN_LABEL_CHECK", "a value that is much too long and not understood", 1);
    Rows();
    Row();
  }
};

TEST_F(KernelFaultsTest, AnyOneFailureIsReportedAndTheCallMadeAgainWorks) {
  SweepFaults({&RunKernelFlow, /*ends_its_threads=*/false}, FaultMode::kOnce);
}

TEST_F(KernelFaultsTest, EveryFailureIsReportedThoughNothingCanBeHad) {
  SweepFaults({&RunKernelFlow, /*ends_its_threads=*/false}, FaultMode::kFromThenOn);
}

}  // namespace
}  // namespace mlmargin::testing
