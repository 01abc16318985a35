// SPDX-License-Identifier: Apache-2.0
// The gradient against exact counts, on every kernel and target; and the loss of float64.
#include <gmpxx.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernel_run.h"
#include "support/exact_row.h"
#include "support/sanitizers.h"
#include "typed_problem.h"

namespace mlmargin::testing {
namespace {

// Sanitizers look for other faults and take several times as long: they get some of a grid.
bool IsLeftOut([[maybe_unused]] uint64_t seed) {
#ifdef MLMARGIN_SANITIZED
  return seed % 5 != 0;
#else
  return false;
#endif
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Within one unit in the last place of the exact value.
void ExpectWithinOneUlp(ScoreType type, const mpq_class& exact, double got,
                        const std::string& what) {
  mpq_class error = mpq_class(got) - exact;
  if (error < 0) error = -error;
  EXPECT_LE(error, mpq_class(UlpOf(type, exact.get_d())))
      << what << " is " << got << ", exactly " << exact.get_d();
}

double LargestOf(ScoreType type) {
  switch (type) {
    case ScoreType::kFloat64:
      return std::numeric_limits<double>::max();
    case ScoreType::kFloat16:
      return 65504;
    default:
      // bfloat16 has a little less.
      return Representable(type, static_cast<double>(std::numeric_limits<float>::max()));
  }
}

mpq_class DivisorOf(const Problem& problem) {
  mpq_class divisor = static_cast<double>(problem.classes);
  if (problem.reduction == Reduction::kMean) divisor *= static_cast<double>(problem.rows());
  return divisor;
}

void ExpectGradient(const Problem& problem, const std::vector<ExactRow>& exact,
                    const ProblemResult& result) {
  const size_t bytes = TypeBytes(problem.type);
  const mpq_class divisor = DivisorOf(problem);
  for (size_t n = 0; n < exact.size(); ++n) {
    const size_t g = problem.reduction == Reduction::kNone ? n : 0;
    const mpq_class scale =
        mpq_class(problem.grad_loss.empty() ? 1.0 : problem.grad_loss[g]) / divisor;
    for (size_t i = 0; i < exact[n].counts.size(); ++i) {
      const double got = DecodeValue(
          problem.type, result.gradient.data() + (n * exact[n].counts.size() + i) * bytes);
      ExpectWithinOneUlp(
          problem.type, static_cast<double>(exact[n].counts[i]) * scale, got,
          problem.Name() + " gradient " + std::to_string(n) + ", " + std::to_string(i));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

void ExpectLoss(const Problem& problem, const std::vector<ExactRow>& exact,
                const ProblemResult& result) {
  const mpq_class divisor = DivisorOf(problem);
  std::vector<mpq_class> losses;
  std::vector<bool> infinite;
  for (const ExactRow& row : exact) {
    if (problem.reduction == Reduction::kNone || losses.empty()) {
      losses.emplace_back(0);
      infinite.push_back(false);
    }
    losses.back() += row.sum / divisor;
    infinite.back() = infinite.back() || row.infinite;
  }
  for (size_t n = 0; n < losses.size(); ++n) {
    const double got = DecodeValue(problem.type, result.loss.data() + n * TypeBytes(problem.type));
    if (infinite[n]) {
      EXPECT_EQ(got, kInf) << problem.Name() << " loss " << n;
    } else if (std::isinf(got)) {
      // The exact value is beyond what rounds to the largest finite one.
      EXPECT_GE(losses[n], mpq_class(LargestOf(problem.type))) << problem.Name() << " loss " << n;
    } else {
      ExpectWithinOneUlp(problem.type, losses[n], got,
                         problem.Name() + " loss " + std::to_string(n));
    }
  }
}

class GradientTest : public ::testing::Test {
 protected:
  ~GradientTest() override {
    EXPECT_TRUE(SetTarget("").ok());
    UseAnyKernel();
  }

  // On every kernel and target: the gradient is right; the loss and the mask are those of a call
  // without a gradient, and the gradient that of a call without them.
  static void ExpectRight(const Problem& problem, const RunOptions& options = {}) {
    std::vector<ExactRow> exact;
    for (size_t n = 0; n < problem.scores.size(); ++n) {
      exact.emplace_back(problem.scores[n], problem.labels[n]);
    }
    std::vector<unsigned char> gradient;
    for (const KernelChoice& choice : kKernelChoices) {
      choice.Use();
      for (const std::string& target : SupportedTargets()) {
        ASSERT_TRUE(SetTarget(target).ok());
        SCOPED_TRACE(std::string(choice.name) + " on " + target);
        const ProblemResult all = RunProblem(problem, options);
        if (gradient.empty()) {
          gradient = all.gradient;
          ExpectGradient(problem, exact, all);
          ExpectLoss(problem, exact, all);
        }
        EXPECT_EQ(all.gradient, gradient) << problem.Name();
        RunOptions one = options;
        one.gradient = false;
        const ProblemResult forward = RunProblem(problem, one);
        EXPECT_EQ(forward.loss, all.loss) << problem.Name();
        EXPECT_EQ(forward.mask, all.mask) << problem.Name();
        one.gradient = true;
        one.loss = one.mask = false;
        EXPECT_EQ(RunProblem(problem, one).gradient, gradient) << problem.Name();
        if (HasFailure()) return;
        if (problem.type == ScoreType::kFloat64) break;  // Knows no target.
      }
      if (problem.type == ScoreType::kFloat64) break;
    }
  }
};

TEST_F(GradientTest, IsExactAroundVectorAndBlockSizes) {
  uint64_t seed = 0;
  for (const ScoreType type : kAllTypes) {
    for (const int64_t classes :
         {1, 2, 3, 5, 15, 16, 17, 31, 63, 64, 65, 101, 127, 129, 2047, 2048, 2049, 2100}) {
      for (const Spread spread : kAllSpreads) {
        if (IsLeftOut(++seed)) continue;
        Problem problem = MakeProblem(type, 2, classes, Density::kFew, spread, seed);
        problem.reduction = static_cast<Reduction>(seed % 3);
        ExpectRight(problem);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(GradientTest, IsExactForManyLabels) {
  uint64_t seed = 500;
  for (const ScoreType type : kAllTypes) {
    for (const int64_t classes : {40, 100, 150, 700, 2500}) {
      for (const Density density : {Density::kNone, Density::kHalf, Density::kAll}) {
        for (const Spread spread : kAllSpreads) {
          if (IsLeftOut(++seed)) continue;
          Problem problem = MakeProblem(type, 2, classes, density, spread, seed);
          problem.reduction = static_cast<Reduction>(seed % 3);
          ExpectRight(problem);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(GradientTest, IsExactForViewsAndLabelForms) {
  uint64_t seed = 900;
  for (const ScoreType type : kAllTypes) {
    for (const int64_t classes : {2, 20, 150, 2200}) {
      for (const Density density : {Density::kFew, Density::kHalf}) {
        const Problem problem = MakeProblem(type, 3, classes, density, Spread::kOrdinary, ++seed);
        RunOptions options;
        options.column_step = static_cast<int64_t>(1 + seed % 3);
        options.pitch_extra = static_cast<int64_t>(seed % 5);
        options.misalignment = seed % 9;
        options.csr = seed % 2 == 0;
        options.label_type = seed % 4 < 2 ? LabelType::kInt32 : LabelType::kInt64;
        options.offset_type = seed % 8 < 4 ? LabelType::kInt32 : LabelType::kInt64;
        ExpectRight(problem, options);
        if (HasFailure()) return;
      }
    }
  }
}

// Lists with many repeats, in no order, of few and of many classes.
TEST_F(GradientTest, RepeatsCountEachTime) {
  std::mt19937_64 random(3);
  for (const ScoreType type : kAllTypes) {
    for (const int64_t classes : {3, 90, 200, 5000}) {
      for (const size_t length : {7u, 60u, 64u, 65u, 300u}) {
        if (IsLeftOut(static_cast<uint64_t>(classes) + length)) continue;
        Problem problem = MakeProblem(type, 2, classes, Density::kNone, Spread::kOrdinary, length);
        for (auto& labels : problem.labels) {
          for (size_t k = 0; k < length; ++k) {
            labels.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(classes)) / 2);
          }
        }
        ExpectRight(problem);
        if (HasFailure()) return;
      }
    }
  }
}

// Bad labels, special scores, ties at exactly 0.
TEST_F(GradientTest, EdgesOfTheDefinition) {
  for (const ScoreType type : kAllTypes) {
    const auto expect = [&](std::vector<double> scores, std::vector<int64_t> labels) {
      for (const size_t padding : {0u, 30u, 200u, 2100u}) {
        if (IsLeftOut(padding)) continue;
        Problem problem;
        problem.type = type;
        problem.scores = {scores};
        problem.scores[0].resize(scores.size() + padding, -1.25);
        problem.classes = static_cast<int64_t>(problem.scores[0].size());
        problem.labels = {labels};
        problem.grad_loss = {};
        ExpectRight(problem);
        // So many labels that they are looked up in a tree.
        for (size_t k = 0; k < padding / 2; ++k) {
          problem.labels[0].push_back(static_cast<int64_t>(scores.size() + k));
        }
        ExpectRight(problem);
      }
    };
    expect({1, 0, 0.5, -0.5}, {0});  // 0 is exactly 1 below: a hinge of 0.
    expect({2, 1, 0.5, 1.5}, {0, 0, 3});
    expect({-kInf, 3, -kInf, kNaN}, {0});
    expect({-kInf, 3, 2, 5}, {0, 1});
    expect({kInf, 3, kInf}, {0});
    expect({kNaN, 3, 4}, {0, 1});
    expect({0, kInf, -kInf, 1}, {0});
    expect({0, 1, 2}, {-2, 5, 1, 1000000});
    expect({3, 2, 1}, {0, 1, 2});
    expect({0.25}, {0});
  }
}

// Infinities and what overflows, on every kernel and target.
TEST_F(GradientTest, InfiniteGradientsStayInfinite) {
  for (const ScoreType type : kAllTypes) {
    const size_t bytes = TypeBytes(type);
    for (const int64_t classes : {3, 20, 200, 3000}) {
      Problem problem;
      problem.type = type;
      problem.classes = classes;
      problem.scores = {std::vector<double>(static_cast<size_t>(classes), 0.0)};
      problem.scores[0][1] = -2;  // No hinge.
      // Twice as often as there are classes.
      problem.labels = {std::vector<int64_t>(static_cast<size_t>(classes) * 2, 0)};
      for (const double value : {kInf, -kInf, LargestOf(type), -LargestOf(type)}) {
        problem.grad_loss = {value};
        for (const KernelChoice& choice : kKernelChoices) {
          choice.Use();
          for (const std::string& target : SupportedTargets()) {
            ASSERT_TRUE(SetTarget(target).ok());
            const ProblemResult result = RunProblem(problem);
            const auto at = [&](size_t i) {
              return DecodeValue(type, result.gradient.data() + i * bytes);
            };
            EXPECT_EQ(at(2), value > 0 ? kInf : -kInf) << problem.Name() << " on " << target;
            EXPECT_EQ(at(0), value > 0 ? -kInf : kInf) << problem.Name();
            if (std::isinf(value)) {
              EXPECT_TRUE(std::isnan(at(1)));
            } else {
              EXPECT_EQ(at(1), 0);
            }
          }
        }
      }
    }
  }
}

TEST_F(GradientTest, GradLossGoesThroughAsItIs) {
  for (const ScoreType type : kAllTypes) {
    for (const int64_t classes : {3, 200}) {
      Problem problem = MakeProblem(type, 1, classes, Density::kFew, Spread::kOrdinary, 4);
      problem.labels = {{0, 1}};
      const size_t bytes = TypeBytes(type);
      for (const double value : {kNaN, kInf, 0.0}) {
        problem.grad_loss = {value};
        const ProblemResult result = RunProblem(problem);
        for (size_t i = 0; i < static_cast<size_t>(classes); ++i) {
          const double got = DecodeValue(type, result.gradient.data() + i * bytes);
          if (value == 0) {
            EXPECT_EQ(got, 0.0);
          } else if (std::isnan(value)) {
            EXPECT_TRUE(std::isnan(got));
          } else {
            EXPECT_FALSE(std::isfinite(got));  // Infinite, or NaN where the count is 0.
          }
        }
      }
    }
  }
}

TEST_F(GradientTest, SmallGradientsAreRight) {
  for (const ScoreType type : kAllTypes) {
    Problem problem = MakeProblem(type, 1, 301, Density::kFew, Spread::kOrdinary, 5);
    const double least = UlpOf(type, 0);
    for (const double value : {least, 3 * least, 1000 * least, least * 0x1p20, 0x1p-800}) {
      problem.grad_loss = {Representable(type, value)};
      ExpectRight(problem);
    }
  }
}

TEST_F(GradientTest, BitsAreThoseOfOneThreadForAnyNumberOfThreads) {
  for (const ScoreType type : kAllTypes) {
    std::vector<Problem> problems = {
        MakeProblem(type, 1, 150'001, Density::kFew, Spread::kOrdinary, 1),
        MakeProblem(type, 3, 40'000, Density::kHalf, Spread::kOrdinary, 2),
        MakeProblem(type, 3'000, 17, Density::kHalf, Spread::kTiny, 3)};
    for (const Problem& problem : problems) {
      RunOptions options;
      options.max_threads = 1;
      const ProblemResult one = RunProblem(problem, options);
      for (const int threads : {2, 3, 16}) {
        options.max_threads = threads;
        const ProblemResult many = RunProblem(problem, options);
        EXPECT_EQ(many.gradient, one.gradient) << problem.Name();
        EXPECT_EQ(many.loss, one.loss) << problem.Name();
      }
    }
  }
}

TEST_F(GradientTest, WrongLabelOffsetsAreNamed) {
  float scores[4] = {}, loss = 0;
  const int64_t labels[3] = {0, 1, 0};
  std::vector<int32_t> offsets = {0, 1, 3};
  LossArguments call;
  call.rows = call.classes = 2;
  call.scores = {scores, 2, 1};
  call.labels.data = labels;
  call.label_columns = 3;
  call.offset_type = LabelType::kInt32;
  call.loss = &loss;
  const auto message = [&](std::vector<int32_t> with) {
    offsets = std::move(with);
    call.label_offsets = offsets.data();
    return MultilabelMarginLoss(call, nullptr).message();
  };
  EXPECT_EQ(message({0, 1, 3}), "");
  EXPECT_EQ(message({1, 1, 2}), "");
  EXPECT_EQ(message({-1, 1, 3}), "label_offsets must be from 0 to 3 at 0, got -1");
  EXPECT_EQ(message({0, 2, 1}), "label_offsets must be from 2 to 3 at 2, got 1");
  EXPECT_EQ(message({0, 1, 4}), "label_offsets must be from 1 to 3 at 2, got 4");
}

// ---- float64 -------------------------------------------------------------------------------

double LossOfDoubles(const std::vector<double>& scores, const std::vector<int64_t>& labels,
                     Reduction reduction = Reduction::kNone, int64_t rows = 1) {
  Problem problem;
  problem.type = ScoreType::kFloat64;
  problem.classes = static_cast<int64_t>(scores.size());
  problem.scores.assign(static_cast<size_t>(rows), scores);
  problem.labels.assign(static_cast<size_t>(rows), labels);
  problem.reduction = reduction;
  return DecodeValue(problem.type, RunProblem(problem).loss.data());
}

TEST_F(GradientTest, DoublesKeepTheirSmallestHinges) {
  EXPECT_EQ(LossOfDoubles({-1e-30, -1}, {0}), 5e-31);
  EXPECT_EQ(LossOfDoubles({-1e-310, -1}, {0}), 1e-310 / 2);
  EXPECT_EQ(LossOfDoubles({0x1p60 + 1024, 0x1p60 + 1024}, {0}), 0.5);
}

TEST_F(GradientTest, AMeanOfDoublesIsFiniteWhereTheSumIsNot) {
  const double max = std::numeric_limits<double>::max();
  EXPECT_EQ(LossOfDoubles({-max, max}, {0}), max);
  EXPECT_EQ(LossOfDoubles({-max, max, max}, {0}), kInf);
  EXPECT_EQ(LossOfDoubles({0, max}, {0}), max / 2);
  EXPECT_EQ(LossOfDoubles({0, -1, max, 0x1p100}, {0, 1}), max / 2);
  EXPECT_EQ(LossOfDoubles({-max, max}, {0}, Reduction::kMean, 7), max);
  EXPECT_EQ(LossOfDoubles({-max, max}, {0}, Reduction::kSum, 7), kInf);
  EXPECT_EQ(LossOfDoubles({max, max / 2, -1, 0}, {0, 2}, Reduction::kMean, 3), max / 8);
}

// A row of huge scores without a hinge leaves the others what they are; with one, nothing.
TEST_F(GradientTest, SmallRowsBesideHugeOnesCount) {
  Problem problem;
  problem.type = ScoreType::kFloat64;
  problem.classes = 2;
  problem.scores = {{-1e300, -2e300}, {1, 1e-300}};
  problem.labels = {{0}, {0}};
  for (const Reduction reduction : {Reduction::kNone, Reduction::kMean, Reduction::kSum}) {
    problem.reduction = reduction;
    problem.grad_loss = {1, 1};
    ExpectRight(problem);
  }
  EXPECT_EQ(DecodeValue(problem.type, RunProblem(problem).loss.data()), 5e-301);
}

// Labels and classes on both sides of where scores are added up in another unit.
TEST_F(GradientTest, HugeDoublesAreWithinOneUlp) {
  std::mt19937_64 random(12);
  for (int turn = 0; turn < 300; ++turn) {
    Problem problem;
    problem.type = ScoreType::kFloat64;
    problem.classes = 40;
    problem.scores.resize(2);
    problem.labels.resize(2);
    problem.reduction = static_cast<Reduction>(random() % 3);
    for (size_t n = 0; n < 2; ++n) {
      for (int64_t i = 0; i < problem.classes; ++i) {
        const int exponent =
            static_cast<int>(random() % 3 == 0 ? random() % 8 : 880 + random() % 143);
        double score = std::ldexp(1 + static_cast<double>(random() % 1000) / 1000, exponent);
        if (random() % (turn % 2 == 0 ? 2 : 100) == 0) score = -score;
        problem.scores[n].push_back(score);
        if (random() % 3 == 0) problem.labels[n].push_back(i);
      }
    }
    ExpectRight(problem);
    if (HasFailure()) return;
  }
}

TEST_F(GradientTest, AnyFiniteDoublesAreWithinOneUlp) {
  std::mt19937_64 random(8);
  for (int turn = 0; turn < 3000; ++turn) {
    Problem problem;
    problem.type = ScoreType::kFloat64;
    problem.classes = static_cast<int64_t>(1 + random() % 9);
    problem.scores.resize(1 + random() % 2);
    problem.labels.resize(problem.scores.size());
    problem.reduction = static_cast<Reduction>(random() % 3);
    for (size_t n = 0; n < problem.scores.size(); ++n) {
      for (int64_t i = 0; i < problem.classes; ++i) {
        uint64_t bits = random();
        if (turn % 2 == 0) bits = (bits & ~(uint64_t{0x7FF} << 52)) | (1020 + random() % 6) << 52;
        const auto score = std::bit_cast<double>(bits);
        problem.scores[n].push_back(std::isfinite(score) ? score : 0.5);
        if (random() % 3 == 0) problem.labels[n].push_back(i);
      }
    }
    ExpectRight(problem);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace mlmargin::testing
