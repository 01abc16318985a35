// SPDX-License-Identifier: Apache-2.0
// More than 2^31 elements, through the operators and through the C++ API, in many rows and in one.
// Memory that is mapped many times stands in for tensors that few machines could hold.
#include <cstring>

#include "mlmargin/multilabel_margin_loss.h"
#include "size/repeated_memory.h"
#include "size/size_fixture.h"

namespace mlmargin::testing {
namespace {

// ---- Many rows, all of them alike, which share the memory of their scores and outputs ----------

constexpr int64_t kRowClasses = int64_t{1} << 21;
constexpr int64_t kManyRows = kTwoToThe31 / kRowClasses + 1;
static_assert(kManyRows * kRowClasses > kTwoToThe31);

const LabelCounts kRowLabels = {{0, 1}, {77'777, 2}, {kRowClasses - 1, 1}};

class ManyRowsSizeTest : public SizeTest {
 protected:
  void SetUp() override {
    SizeTest::SetUp();
    if (IsSkipped()) return;
    FillLevels(kFloat16, 1, kRowClasses, scores_.data());
    row_ = ReadLevels(kFloat16, scores_.data(), kRowClasses);
    SetLabels(kFloat16, scores_.data(), kRowLabels, &row_);
    auto* label = labels_.data<int32_t>();
    for (const auto& [value, times] : kRowLabels) {
      for (int64_t k = 0; k < times; ++k) *label++ = static_cast<int32_t>(value);
    }
    *label = -1;
    ASSERT_NE(output_.data(), nullptr);
  }

  const View rows_alike_{{kManyRows, kRowClasses}, {0, 1}};
  const View contiguous_{{kManyRows, kRowClasses}, {kRowClasses, 1}};
  DeviceMemory scores_{kRowClasses * 2};
  DeviceMemory labels_{kRowClasses * 4};
  RepeatedMemory output_{kRowClasses * 2, kManyRows* kRowClasses * 2, Ends::kShared};
  LevelRow row_;
};

TEST_F(ManyRowsSizeTest, OperatorGivesEachItsLossAndMask) {
  const Registered registered(output_.data(), output_.bytes());
  const DeviceMemory losses(kManyRows * 2);
  const TensorHandle self(rows_alike_, ACL_FLOAT16, scores_.data());
  const TensorHandle target(rows_alike_, ACL_INT32, labels_.data());
  const TensorHandle out({{kManyRows}, {1}}, ACL_FLOAT16, losses.data());
  const TensorHandle mask(contiguous_, ACL_FLOAT16, output_.data());
  ASSERT_NO_FATAL_FAILURE(RunLoss(self, target, 0, out, mask, kManyRows, 0));
  const auto* const bits = losses.data<uint16_t>();
  ExpectLoss(kFloat16, row_.Sum() / kRowClasses, bits[0]);
  for (int64_t n = 0; n < kManyRows; ++n) ASSERT_EQ(bits[n], bits[0]) << "row " << n;
  EXPECT_EQ(FindWrongMask(kFloat16, kRowLabels, output_.data(), 0, kRowClasses), -1);
}

TEST_F(ManyRowsSizeTest, BackwardOperatorGivesEachItsGradient) {
  const Registered registered(output_.data(), output_.bytes());
  const DeviceMemory grad_loss(2);
  *grad_loss.data<uint16_t>() = static_cast<uint16_t>(EncodeNear(kFloat16, 1000));
  const TensorHandle grad_output({{kManyRows}, {0}}, ACL_FLOAT16, grad_loss.data());
  const TensorHandle self(rows_alike_, ACL_FLOAT16, scores_.data());
  const TensorHandle target(rows_alike_, ACL_INT32, labels_.data());
  const TensorHandle mask(rows_alike_, ACL_FLOAT16, nullptr);
  const TensorHandle grad_input(contiguous_, ACL_FLOAT16, output_.data());
  ASSERT_NO_FATAL_FAILURE(RunGradient(grad_output, self, target, 0, mask, grad_input, 0));
  EXPECT_EQ(FindWrongGradient(kFloat16, row_, kRowClasses, kRowLabels, scores_.data(),
                              output_.data(), 1000, 0, kRowClasses),
            -1);
}

TEST_F(ManyRowsSizeTest, OneCallOfTheCppApiGivesAllOutputs) {
  const RepeatedMemory gradient(kRowClasses * 2, kManyRows * kRowClasses * 2, Ends::kShared);
  ASSERT_NE(gradient.data(), nullptr);
  uint16_t loss = 0;
  const auto grad_loss = static_cast<uint16_t>(EncodeNear(kFloat16, 1000));
  LossArguments call;
  call.rows = kManyRows;
  call.classes = kRowClasses;
  call.score_type = ScoreType::kFloat16;
  call.label_type = LabelType::kInt32;
  call.reduction = Reduction::kSum;
  call.scores = {scores_.data(), 0, 1};
  call.labels = {labels_.data(), 0, 1};
  call.label_columns = kRowClasses;
  call.loss = &loss;
  call.mask = {output_.data(), kRowClasses, 1};
  call.grad_scores = {gradient.data(), kRowClasses, 1};
  call.grad_loss = &grad_loss;
  ASSERT_TRUE(MultilabelMarginLoss(call, nullptr).ok());
  ExactValue sum = row_.Sum();
  sum.value *= kManyRows;
  ExpectLoss(kFloat16, sum / kRowClasses, loss);
  EXPECT_EQ(FindWrongMask(kFloat16, kRowLabels, output_.data(), 0, kRowClasses), -1);
  EXPECT_EQ(FindWrongGradient(kFloat16, row_, kRowClasses, kRowLabels, scores_.data(),
                              gradient.data(), 1000, 0, kRowClasses),
            -1);
}

// ---- One long row, whose scores repeat, with labels in the first and in the last window --------

constexpr int64_t kWindow = int64_t{1} << 24;
constexpr int64_t kTail = 12'345;
constexpr int64_t kLongRow = kTwoToThe31 + kTail;

const LabelCounts kLongLabels = {{5, 2}, {kTwoToThe31, 1}, {kLongRow - 1, 1}};

class LongRowSizeTest : public SizeTest {
 protected:
  void SetUp() override {
    SizeTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_NE(scores_.data(), nullptr);
    ASSERT_NE(labels_.data(), nullptr);
    ASSERT_NE(output_.data(), nullptr);
    FillLevels(kFloat32, 2, kWindow, scores_.data());
    row_.AddOthers(ReadLevels(kFloat32, scores_.data(), kWindow), kTwoToThe31 / kWindow);
    row_.AddOthers(ReadLevels(kFloat32, scores_.data(), kTail), 1);
    SetLabels(kFloat32, scores_.data(), kLongLabels, &row_);
    const int64_t list[] = {kLongRow - 1, 5, kTwoToThe31, 5, -1};
    std::memcpy(labels_.data(), list, sizeof(list));
  }

  // The first and the last window, and one of those that share their memory.
  void ExpectMask() const {
    for (const auto& [begin, end] : kLooks) {
      EXPECT_EQ(FindWrongMask(kFloat32, kLongLabels, output_.data(), begin, end), -1);
    }
  }
  void ExpectGradient(double grad_loss) const {
    for (const auto& [begin, end] : kLooks) {
      EXPECT_EQ(FindWrongGradient(kFloat32, row_, kLongRow, kLongLabels, scores_.data(),
                                  output_.data(), grad_loss, begin, end),
                -1);
    }
  }

  static constexpr std::pair<int64_t, int64_t> kLooks[] = {
      {0, kWindow}, {5 * kWindow, 6 * kWindow}, {kTwoToThe31, kLongRow}};
  const View view_{{kLongRow}, {1}};
  RepeatedMemory scores_{kWindow * 4, kLongRow * 4, Ends::kShared};
  SparseMemory labels_{kLongRow * 8};
  RepeatedMemory output_{kWindow * 4, kLongRow * 4, Ends::kOwn};
  LevelRow row_;
};

TEST_F(LongRowSizeTest, OperatorsGiveLossMaskAndGradient) {
  const Registered registered_scores(scores_.data(), scores_.bytes());
  const Registered registered_labels(labels_.data(), labels_.bytes());
  const Registered registered_output(output_.data(), output_.bytes());
  const DeviceMemory loss(4);
  const TensorHandle self(view_, ACL_FLOAT, scores_.data());
  const TensorHandle target(view_, ACL_INT64, labels_.data());
  const TensorHandle out({{}, {}}, ACL_FLOAT, loss.data());
  const TensorHandle output(view_, ACL_FLOAT, output_.data());
  ASSERT_NO_FATAL_FAILURE(RunLoss(self, target, 1, out, output, 1, 0));
  ExpectLoss(kFloat32, row_.Sum() / kLongRow, BitsAt(kFloat32, loss.data(), 0));
  ExpectMask();
  const DeviceMemory grad_loss(4);
  *grad_loss.data<float>() = 1.5f;
  const TensorHandle grad_output({{}, {}}, ACL_FLOAT, grad_loss.data());
  const TensorHandle mask(view_, ACL_FLOAT, nullptr);
  ASSERT_NO_FATAL_FAILURE(RunGradient(grad_output, self, target, 0, mask, output, 0));
  ExpectGradient(1.5);
}

TEST_F(LongRowSizeTest, OneCallOfTheCppApiGivesLossAndGradient) {
  float loss = 0;
  LossArguments call;
  call.rows = 1;
  call.classes = kLongRow;
  call.scores = {scores_.data(), 0, 1};
  call.labels = {labels_.data(), 0, 1};
  call.label_columns = kLongRow;
  call.loss = &loss;
  call.grad_scores = {output_.data(), 0, 1};
  ASSERT_TRUE(MultilabelMarginLoss(call, nullptr).ok());
  ExpectLoss(kFloat32, row_.Sum() / kLongRow, BitsAt(kFloat32, &loss, 0));
  ExpectGradient(1);
}

}  // namespace
}  // namespace mlmargin::testing
