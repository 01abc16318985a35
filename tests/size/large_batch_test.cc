// SPDX-License-Identifier: Apache-2.0
// Large batches in real memory: 15,000 rows of 20,000 classes, where the vendor's page warns of
// time-outs; ten million rows of two; a row of a hundred million. Loss, mask and gradient are exact
// and have the same bits for every number of threads; the memory that a call takes is bounded.
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "mlmargin/multilabel_margin_loss.h"
#include "mlmargin/sharded_loss.h"
#include "size/size_fixture.h"

namespace mlmargin::testing {
namespace {

uint64_t Hash(const void* data, int64_t bytes) {
  const auto* const begin = static_cast<const char*>(data);
  uint64_t hash = 1;
  for (int64_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, begin + at, static_cast<size_t>(std::min<int64_t>(8, bytes - at)));
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

// ---- 15,000 x 20,000 ---------------------------------------------------------------------------

class ManyLongRowsSizeTest : public SizeTest {
 protected:
  static constexpr int64_t kRows = 15'000, kClasses = 20'000, kManyLabels = 5'000;

  void SetUp() override {
    SizeTest::SetUp();
    if (IsSkipped()) return;
    scores_ = std::make_unique<DeviceMemory>(kRows * kClasses * 2);
    labels_ = std::make_unique<DeviceMemory>(kRows * kClasses * 4);
    mask_ = std::make_unique<DeviceMemory>(kRows * kClasses * 2);
    FillLevels(kFloat16, 3, kRows * kClasses, scores_->data());
    // Behind the -1 of a row is what nobody may read; the mask is full of what must go.
    std::memset(labels_->data(), 0x7F, kRows * kClasses * 4);
    std::memset(mask_->data(), 0x7F, kRows * kClasses * 2);
    for (int64_t n = 0; n < kRows; ++n) {
      int32_t* const list = labels_->data<int32_t>() + n * kClasses;
      const std::vector<int32_t> labels = ListOf(n);
      std::copy(labels.begin(), labels.end(), list);
      list[labels.size()] = -1;
    }
  }

  // Up to 40 labels, or in every hundredth row kManyLabels; some are there twice.
  static std::vector<int32_t> ListOf(int64_t row) {
    std::mt19937 random(static_cast<uint32_t>(row));
    std::vector<int32_t> labels(row % 100 == 7 ? kManyLabels : random() % 41);
    for (int32_t& label : labels) label = static_cast<int32_t>(random() % kClasses);
    return labels;
  }

  LossArguments Arguments(int64_t first_row, int64_t rows, Reduction reduction, void* loss) const {
    LossArguments call;
    call.rows = rows;
    call.classes = kClasses;
    call.score_type = ScoreType::kFloat16;
    call.label_type = LabelType::kInt32;
    call.reduction = reduction;
    call.scores = {scores_->data<uint16_t>() + first_row * kClasses, kClasses, 1};
    call.labels = {labels_->data<int32_t>() + first_row * kClasses, kClasses, 1};
    call.label_columns = kClasses;
    call.loss = loss;
    return call;
  }

  void RunOperator(int64_t reduction, const DeviceMemory& loss) const {
    const View view{{kRows, kClasses}, {kClasses, 1}};
    const TensorHandle self(view, ACL_FLOAT16, scores_->data());
    const TensorHandle target(view, ACL_INT32, labels_->data());
    const TensorHandle mask(view, ACL_FLOAT16, mask_->data());
    const View out_view = reduction == 0 ? View{{kRows}, {1}} : View{{}, {}};
    const TensorHandle out(out_view, ACL_FLOAT16, loss.data());
    RunLoss(self, target, reduction, out, mask, kRows, NumThreads() * kManyLabels);
  }

  // The loss put together from calls of one row each.
  uint16_t LossRowByRow(Reduction reduction) const {
    const int64_t parts = NumParts(kClasses, kClasses);
    std::vector<double> sums(static_cast<size_t>(kRows * parts));
    std::vector<uint16_t> label_scores(kManyLabels);
    std::vector<int64_t> counts(kManyLabels);
    for (int64_t n = 0; n < kRows; ++n) {
      const LossArguments row = Arguments(n, 1, reduction, nullptr);
      const std::vector<int32_t> labels = ListOf(n);
      for (size_t k = 0; k < labels.size(); ++k) {
        label_scores[k] = static_cast<const uint16_t*>(row.scores.data)[labels[k]];
      }
      ShardArguments shard;
      shard.rows = 1;
      shard.classes = shard.shard_classes = kClasses;
      shard.score_type = row.score_type;
      shard.label_type = row.label_type;
      shard.reduction = reduction;
      shard.scores = row.scores;
      shard.labels = row.labels;
      shard.label_columns = static_cast<int64_t>(labels.size());
      shard.label_scores = {label_scores.data(), 0, 1};
      EXPECT_TRUE(SumShard(shard, sums.data() + n * parts, counts.data(), nullptr).ok());
    }
    uint16_t loss = 0;
    EXPECT_TRUE(
        ReduceParts(sums.data(), kRows, parts, kClasses, ScoreType::kFloat16, reduction, &loss)
            .ok());
    return loss;
  }

  void ExpectRow(int64_t n, uint16_t loss) const {
    const uint16_t* const scores = scores_->data<uint16_t>() + n * kClasses;
    LabelCounts labels;
    for (const int32_t label : ListOf(n)) ++labels[label];
    LevelRow row = ReadLevels(kFloat16, scores, kClasses);
    SetLabels(kFloat16, scores, labels, &row);
    SCOPED_TRACE(n);
    ExpectLoss(kFloat16, row.Sum() / kClasses, loss);
    EXPECT_EQ(FindWrongMask(kFloat16, labels, mask_->data<uint16_t>() + n * kClasses, 0, kClasses),
              -1);
  }

  std::unique_ptr<DeviceMemory> scores_, labels_, mask_;
};

TEST_F(ManyLongRowsSizeTest, AreExactAndTheirBitsDoNotDependOnThreads) {
  const DeviceMemory losses(kRows * 2), mean(2);
  const auto* const row_losses = losses.data<uint16_t>();
  ASSERT_NO_FATAL_FAILURE(RunOperator(0, losses));
  for (int64_t n = 0; n < kRows; n += 499) ExpectRow(n, row_losses[n]);
  ExpectRow(kRows - 1, row_losses[kRows - 1]);
  ExpectRow(107, row_losses[107]);

  const uint16_t expected_mean = LossRowByRow(Reduction::kMean);
  const uint64_t mask_hash = Hash(mask_->data(), kRows * kClasses * 2);
  for (const int threads : {1, 16}) {
    SCOPED_TRACE(threads);
    ASSERT_TRUE(SetNumThreads(threads).ok());
    std::memset(mask_->data(), 0x7F, kRows * kClasses * 2);
    *mean.data<uint16_t>() = 0;
    ASSERT_NO_FATAL_FAILURE(RunOperator(1, mean));
    EXPECT_EQ(*mean.data<uint16_t>(), expected_mean);
    EXPECT_EQ(Hash(mask_->data(), kRows * kClasses * 2), mask_hash);
  }

  // A block of the rows each, all at once.
  constexpr int64_t kCallers = 16;
  std::vector<uint16_t> at_once(kRows);
  std::vector<std::thread> callers;
  for (int64_t t = 0; t < kCallers; ++t) {
    callers.emplace_back([&, t] {
      const int64_t begin = kRows * t / kCallers, end = kRows * (t + 1) / kCallers;
      const LossArguments call =
          Arguments(begin, end - begin, Reduction::kNone, at_once.data() + begin);
      EXPECT_TRUE(MultilabelMarginLoss(call, nullptr).ok());
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(std::equal(at_once.begin(), at_once.end(), row_losses));
}

// ---- Ten million rows of two classes -----------------------------------------------------------

TEST_F(SizeTest, TenMillionRowsOfTwoClassesAreExact) {
  constexpr int64_t kRows = 10'000'000;
  const DeviceMemory scores(kRows * 8), labels(kRows * 8), mask(kRows * 8), losses(kRows * 4);
  FillLevels(kFloat32, 4, 2 * kRows, scores.data());
  // No label, one of the two, both, or one of them twice.
  static constexpr int32_t kLists[][2] = {{-1, 0}, {0, -1}, {1, -1}, {0, 1}, {1, 1}};
  for (int64_t n = 0; n < kRows; ++n) {
    std::memcpy(labels.data() + n * 8, kLists[n % 5], sizeof(kLists[0]));
  }
  std::memset(mask.data(), 0x7F, kRows * 8);
  std::memset(losses.data(), 0x7F, kRows * 4);
  const View view{{kRows, 2}, {2, 1}};
  const TensorHandle self(view, ACL_FLOAT, scores.data());
  const TensorHandle target(view, ACL_INT32, labels.data());
  const TensorHandle is_target(view, ACL_FLOAT, mask.data());
  const TensorHandle out({{kRows}, {1}}, ACL_FLOAT, losses.data());
  ASSERT_NO_FATAL_FAILURE(RunLoss(self, target, 0, out, is_target, kRows, 0));
  int64_t sum = 0;  // In 64ths.
  for (int64_t n = 0; n < kRows; ++n) {
    const float* const x = scores.data<float>() + 2 * n;
    const int64_t list = n % 5;
    const int times = list == 4 ? 2 : list == 1 || list == 2 ? 1 : 0;
    const float hinge = list == 1 ? 1 - x[0] + x[1] : 1 - x[1] + x[0];
    const float loss = static_cast<float>(times) * std::max(0.0f, hinge) / 2;
    ASSERT_EQ(losses.data<float>()[n], loss) << "row " << n;
    sum += static_cast<int64_t>(loss * 128);
    const float* const m = mask.data<float>() + 2 * n;
    ASSERT_EQ(m[0], list == 1 || list == 3 ? 1 : 0) << "row " << n;
    ASSERT_EQ(m[1], list >= 2 ? 1 : 0) << "row " << n;
  }
  const TensorHandle mean({{}, {}}, ACL_FLOAT, losses.data());
  for (const int threads : {1, 16}) {
    ASSERT_TRUE(SetNumThreads(threads).ok());
    ASSERT_NO_FATAL_FAILURE(RunLoss(self, target, 1, mean, is_target, kRows, 0));
    ExactValue exact;
    exact.value = mpq_class(mpz_class(sum), mpz_class(128 * kRows));
    ExpectLoss(kFloat32, exact, BitsAt(kFloat32, losses.data(), 0));
  }
}

// ---- A hundred million classes in one row ------------------------------------------------------

TEST_F(SizeTest, AHundredMillionClassesAndAMillionLabelsInOneRowAreExact) {
  constexpr int64_t kClasses = 100'000'000, kListed = 1'000'000;
  const DeviceMemory scores(kClasses * 4), labels(kClasses * 4), output(kClasses * 4);
  const DeviceMemory loss(4), grad_loss(4);
  *grad_loss.data<float>() = 1;
  FillLevels(kFloat32, 5, kClasses, scores.data());
  std::memset(labels.data(), 0x7F, kClasses * 4);
  std::memset(output.data(), 0x7F, kClasses * 4);
  std::mt19937_64 random(6);
  std::vector<int64_t> sorted;
  for (int64_t k = 0; k < kListed; ++k) {
    const auto label = static_cast<int32_t>(random() % kClasses);
    labels.data<int32_t>()[k] = label;
    sorted.push_back(label);
  }
  labels.data<int32_t>()[kListed] = -1;
  std::sort(sorted.begin(), sorted.end());
  LabelCounts counts;
  for (const int64_t label : sorted) ++counts.emplace_hint(counts.end(), label, 0)->second;
  LevelRow row = ReadLevels(kFloat32, scores.data(), kClasses);
  SetLabels(kFloat32, scores.data(), counts, &row);

  const View view{{kClasses}, {1}};
  const TensorHandle self(view, ACL_FLOAT, scores.data());
  const TensorHandle target(view, ACL_INT32, labels.data());
  const TensorHandle out({{}, {}}, ACL_FLOAT, loss.data());
  const TensorHandle mask(view, ACL_FLOAT, output.data());
  const TensorHandle grad_output({{}, {}}, ACL_FLOAT, grad_loss.data());
  const TensorHandle no_mask(view, ACL_FLOAT, nullptr);
  const TensorHandle grad_input(view, ACL_FLOAT, output.data());
  uint64_t gradient_hash = 0;
  uint32_t loss_bits = 0;
  for (const int threads : {16, 1}) {
    SCOPED_TRACE(threads);
    ASSERT_TRUE(SetNumThreads(threads).ok());
    ASSERT_NO_FATAL_FAILURE(RunLoss(self, target, 1, out, mask, 1, kListed));
    if (threads == 16) {
      loss_bits = BitsAt(kFloat32, loss.data(), 0);
      ExpectLoss(kFloat32, row.Sum() / kClasses, loss_bits);
    }
    EXPECT_EQ(BitsAt(kFloat32, loss.data(), 0), loss_bits);
    EXPECT_EQ(FindWrongMask(kFloat32, counts, output.data(), 0, kClasses), -1);
    ASSERT_NO_FATAL_FAILURE(
        RunGradient(grad_output, self, target, 1, no_mask, grad_input, kListed));
    if (threads == 16) {
      EXPECT_EQ(FindWrongGradient(kFloat32, row, kClasses, counts, scores.data(), output.data(), 1,
                                  0, kClasses),
                -1);
      gradient_hash = Hash(output.data(), kClasses * 4);
    }
    EXPECT_EQ(Hash(output.data(), kClasses * 4), gradient_hash);
  }
}

}  // namespace
}  // namespace mlmargin::testing
