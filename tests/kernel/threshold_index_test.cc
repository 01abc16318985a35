// SPDX-License-Identifier: Apache-2.0
#include "kernel/threshold_index.h"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "kernel/row_kernel.h"
#include "kernel/threshold.h"

namespace mlmargin::kernel {
namespace {

struct Case {
  std::string name;
  std::vector<float> scores;
};

void PrintTo(const Case& a_case, std::ostream* out) { *out << a_case.name; }

std::vector<Case> Cases() {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<Case> cases = {{"one", {0.25f}},
                             {"equal", std::vector<float>(300, -0.75f)},
                             {"signed zeros", {0.0f, -0.0f, 0.0f, 1.0f, -0.0f}},
                             {"infinite range", {-3e38f, 0, 1, 2, 3e38f}},
                             {"subnormal range", {1.0f, 1.0f, std::nextafter(1.0f, 2.0f)}}};
  for (const size_t size : {2u, 15u, 16u, 17u, 64u, 65u, 255u, 256u, 257u, 5000u}) {
    Case spread{"normal " + std::to_string(size), {}};
    Case outlier{"outlier " + std::to_string(size), {-1e9f}};
    Case tiny{"tiny " + std::to_string(size), {}};
    for (size_t i = 0; i < size; ++i) {
      spread.scores.push_back(normal(random));
      outlier.scores.push_back(normal(random));
      tiny.scores.push_back(normal(random) * 1e-38f);
    }
    cases.insert(cases.end(), {spread, outlier, tiny});
  }
  for (const size_t size : {4095u, 4096u, 65535u, 65536u}) {
    Case edge{"level edge " + std::to_string(size), {}};
    for (size_t i = 0; i < size; ++i) edge.scores.push_back(normal(random));
    cases.push_back(edge);
  }
  return cases;
}

class ThresholdIndexTest : public ::testing::TestWithParam<Case> {
 protected:
  ThresholdIndexTest() {
    const std::vector<float>& scores = GetParam().scores;
    const auto classes = static_cast<int64_t>(scores.size());
    std::vector<int64_t> labels(scores.size());
    for (int64_t i = 0; i < classes; ++i) labels[static_cast<size_t>(i)] = i;
    BadLabels bad;
    EXPECT_TRUE(list_.Read({labels.data(), 1, classes, LabelType::kInt64},
                           {scores.data(), 1, classes, ScoreType::kFloat32}, 0, &bad));
    index_.Build(&list_, KernelsInUse().find_thresholds);
    sorted_ = scores;
    std::sort(sorted_.begin(), sorted_.end());
  }

  LabelList list_;
  ThresholdIndex index_;
  std::vector<float> sorted_;
};

TEST_P(ThresholdIndexTest, ScoresAreSortedAndThresholdsFollowThem) {
  for (size_t k = 0; k < sorted_.size(); ++k) {
    EXPECT_EQ(index_.scores()[k], sorted_[k]);
    EXPECT_EQ(index_.thresholds()[k], FloorThreshold(sorted_[k]));
  }
}

TEST_P(ThresholdIndexTest, BaseIsTheSumOfTheDistancesToLowerThresholds) {
  mpq_class sum;
  for (size_t k = 1; k < sorted_.size(); ++k) {
    sum += k * (mpq_class(sorted_[k]) - mpq_class(sorted_[k - 1]));
    const mpq_class error = abs(mpq_class(index_.base()[k]) - sum);
    EXPECT_LE(error, sum * (k + 2) * mpq_class(0x1p-53)) << k;
  }
  EXPECT_EQ(index_.base()[0], 0);
}

// What the kernel relies on, for scores at, between and around the thresholds.
TEST_P(ThresholdIndexTest, ASearchDownTheTreeFindsTheNumberOfThresholdsBelow) {
  std::vector<float> probes = {std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::max(),
                               -std::numeric_limits<float>::infinity()};
  const size_t step = sorted_.size() / 5000 + 1;
  for (size_t i = 0; i < sorted_.size(); i += step) {
    const float score = sorted_[sorted_.size() - 1 - i];
    const float threshold = FloorThreshold(score);
    for (const float to : {-1e38f, 1e38f}) probes.push_back(std::nextafter(threshold, to));
    probes.push_back(threshold);
    probes.push_back(score);
  }
  const float* const begin = index_.thresholds();
  for (const float probe : probes) {
    int64_t count = 0;
    for (int level = index_.tree().levels; level-- > 0;) {
      const float* const node =
          begin + index_.tree().begin[static_cast<size_t>(level)] + count * ThresholdTree::kNode;
      const float* const end = node + ThresholdTree::kNode;
      EXPECT_LE(end, begin + index_.tree().end);
      EXPECT_TRUE(std::is_sorted(node, end));
      count = count * ThresholdTree::kNode + (std::lower_bound(node, end, probe) - node);
    }
    EXPECT_EQ(count, std::lower_bound(begin, begin + sorted_.size(), probe) - begin) << probe;
  }
}

TEST_P(ThresholdIndexTest, NoLowPartIsMissed) {
  const bool any = std::any_of(sorted_.begin(), sorted_.end(),
                               [](float score) { return NegatedThreshold(score).low != 0; });
  EXPECT_GE(index_.any_low(), any);
}

INSTANTIATE_TEST_SUITE_P(Cases, ThresholdIndexTest, ::testing::ValuesIn(Cases()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace mlmargin::kernel
