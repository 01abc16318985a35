// SPDX-License-Identifier: Apache-2.0
// Fuzzes MultilabelMarginLoss(): any layout, labels padded or CSR, any outputs, on every kernel and
// target, which must give the same bits, judged by exact arithmetic. fuzz_sharded.cc has the
// shards.
#include <climits>
#include <memory>
#include <optional>

#include "batch_oracle.h"
#include "fuzz_sharded.h"
#include "kernel/row_kernel.h"
#include "mlmargin/settings.h"
#include "strided_buffer.h"

namespace mlmargin::fuzz {
namespace {

using Use = StridedBuffer::Use;

constexpr ScoreType kTypes[] = {ScoreType::kFloat32, ScoreType::kFloat16, ScoreType::kBFloat16,
                                ScoreType::kFloat64};
constexpr Reduction kReductions[] = {Reduction::kNone, Reduction::kMean, Reduction::kSum};
constexpr LabelType kLabelTypes[] = {LabelType::kInt64, LabelType::kInt32};

size_t BytesOf(LabelType type) { return type == LabelType::kInt32 ? 4 : 8; }

int64_t AsStored(LabelType type, int64_t value) {
  return type == LabelType::kInt32 ? static_cast<int32_t>(value) : value;
}

// The label lists and how they are stored.
class LabelStore {
 public:
  LabelStore(Provider& provider, Batch* batch)
      : csr_(provider.ConsumeBool()),
        type_(Pick(provider, kLabelTypes)),
        offset_type_(Pick(provider, kLabelTypes)) {
    LabelSource source(provider, {batch->rows, batch->classes});
    columns_ = provider.ConsumeIntegralInRange<int64_t>(0, 80);
    if (OneIn(provider, 4)) columns_ = 2 * batch->classes + 1;
    if (csr_) {
      StoreRows(provider, source, batch);
    } else {
      StorePadded(provider, source, batch);
    }
  }

  void Describe(LossArguments* call) {
    call->labels = labels_->const_matrix();
    call->label_columns = columns_;
    call->label_type = type_;
    call->offset_type = offset_type_;
    if (csr_) call->label_offsets = offsets_->data();
  }
  bool csr() const { return csr_; }
  // Puts a number for the offset of row n that it cannot be.
  void SpoilOffset(int64_t n) { offsets_->Set(n, 0, static_cast<uint64_t>(-n - 2)); }

 private:
  void StorePadded(Provider& provider, LabelSource& source, Batch* batch) {
    labels_.emplace(provider, Use::kInput, batch->rows, columns_, BytesOf(type_));
    for (int64_t n = 0; n < batch->rows; ++n) {
      const std::vector<int64_t> row = source.NextRow(columns_);
      for (int64_t k = 0; k < columns_; ++k) {
        labels_->Set(n, k, static_cast<uint64_t>(row[static_cast<size_t>(k)]));
      }
    }
    for (int64_t n = 0; n < batch->rows; ++n) {  // Rows may share their elements.
      std::vector<int64_t> row;
      for (int64_t k = 0; k < columns_; ++k) {
        row.push_back(AsStored(type_, static_cast<int64_t>(labels_->Get(n, k))));
      }
      batch->labels.push_back(std::move(row));
    }
  }

  void StoreRows(Provider& provider, LabelSource& source, Batch* batch) {
    std::vector<int64_t> all(provider.ConsumeIntegralInRange<size_t>(0, 3));  // No row's.
    std::vector<int64_t> offsets = {std::ssize(all)};
    for (int64_t n = 0; n < batch->rows; ++n) {
      std::vector<int64_t> row = source.NextRow(columns_);
      // Mostly without padding, yet a list may end at a -1 here too.
      if (n % 4 != 3)
        row.resize(static_cast<size_t>(std::find(row.begin(), row.end(), -1) - row.begin()));
      for (int64_t& entry : row) entry = AsStored(type_, entry);
      all.insert(all.end(), row.begin(), row.end());
      offsets.push_back(std::ssize(all));
      batch->labels.push_back(std::move(row));
    }
    columns_ = std::ssize(all);
    Provider contiguous(nullptr, 0);
    labels_.emplace(contiguous, Use::kOutput, 1, columns_, BytesOf(type_));
    offsets_.emplace(contiguous, Use::kOutput, std::ssize(offsets), 1, BytesOf(offset_type_));
    for (size_t k = 0; k < all.size(); ++k) {
      labels_->Set(0, static_cast<int64_t>(k), static_cast<uint64_t>(all[k]));
    }
    for (size_t n = 0; n < offsets.size(); ++n) {
      offsets_->Set(static_cast<int64_t>(n), 0, static_cast<uint64_t>(offsets[n]));
    }
  }

  bool csr_;
  LabelType type_, offset_type_;
  int64_t columns_ = 0;
  std::optional<StridedBuffer> labels_, offsets_;
};

// A call and the buffers it works on.
class Call {
 public:
  explicit Call(Provider& provider) {
    const Shape shape = PickShape(provider);
    batch_.rows = shape.rows;
    batch_.classes = shape.classes;
    batch_.type = Pick(provider, kTypes);
    batch_.reduction = Pick(provider, kReductions);
    const size_t bytes = batch_.format().bytes();
    MakeScores(provider);
    labels_.emplace(provider, &batch_);
    const uint8_t outputs = provider.ConsumeIntegral<uint8_t>();
    has_loss_ = (outputs & 1) == 0;
    has_gradient_ = (outputs & 2) == 0 || !has_loss_;
    has_mask_ = (outputs & 4) == 0;
    has_grad_loss_ = (outputs & 8) != 0;
    if (has_grad_loss_) MakeGradLoss(provider);
    loss_.emplace(provider, Use::kOutput, batch_.num_losses(), 1, bytes);
    mask_.emplace(provider, Use::kOutput, batch_.rows, batch_.classes, bytes);
    gradient_.emplace(provider, Use::kOutput, batch_.rows, batch_.classes, bytes);
    scratch_.resize(static_cast<size_t>(2 * batch_.rows));
    Describe((outputs & 16) != 0, provider);
  }

  void Run(Provider& provider) {
    if (OneIn(provider, 8)) return ExpectRefusal(provider);
    const BadLabels bad = ExpectedBadLabels(batch_);
    if (call_.reject_bad_labels && bad.count > 0) return ExpectRejection();
    const std::optional<kernel::RowKernel> kernels[] = {std::nullopt, kernel::RowKernel::kShort,
                                                        kernel::RowKernel::kPairwise,
                                                        kernel::RowKernel::kSearch};
    kernel::ForceRowKernel(Pick(provider, kernels));
    const std::optional<bool> streams[] = {std::nullopt, true, false};
    kernel::ForceStream(Pick(provider, streams));
    std::optional<Outputs> first;
    for (const std::string& target : SupportedTargets()) {
      if (!SetTarget(target).ok()) Fail("target " + target);
      Outputs outputs = RunOnce(bad);
      outputs.UnifyNaNs(batch_.format());
      if (!first.has_value()) {
        Judge(batch_, outputs);
        first = std::move(outputs);
      } else if (outputs != *first) {
        Fail("other bits on " + target);
      }
    }
  }

 private:
  void MakeScores(Provider& provider) {
    ScoreSource source(provider, batch_.format());
    scores_.emplace(provider, Use::kInput, batch_.rows, batch_.classes, batch_.format().bytes());
    for (int64_t n = 0; n < batch_.rows; ++n) {
      for (int64_t i = 0; i < batch_.classes; ++i) scores_->Set(n, i, source.Next());
    }
    batch_.scores.resize(static_cast<size_t>(batch_.rows));
    for (int64_t n = 0; n < batch_.rows; ++n) {
      for (int64_t i = 0; i < batch_.classes; ++i) {
        batch_.scores[static_cast<size_t>(n)].push_back(batch_.format().Decode(scores_->Get(n, i)));
      }
    }
  }

  void MakeGradLoss(Provider& provider) {
    ScoreSource source(provider, batch_.format());
    grad_loss_.emplace(provider, Use::kInput, batch_.num_losses(), 1, batch_.format().bytes());
    for (int64_t n = 0; n < batch_.num_losses(); ++n) grad_loss_->Set(n, 0, source.Next());
    for (int64_t n = 0; n < batch_.num_losses(); ++n) {
      batch_.grad_loss.push_back(batch_.format().Decode(grad_loss_->Get(n, 0)));
    }
  }

  void Describe(bool with_scratch, Provider& provider) {
    call_.rows = batch_.rows;
    call_.classes = batch_.classes;
    call_.score_type = batch_.type;
    call_.reduction = batch_.reduction;
    call_.scores = scores_->const_matrix();
    labels_->Describe(&call_);
    if (has_loss_) call_.loss = loss_->data();
    call_.loss_stride = loss_->matrix().row_stride;
    if (has_mask_) call_.mask = mask_->matrix();
    if (has_gradient_) call_.grad_scores = gradient_->matrix();
    if (has_grad_loss_) {
      call_.grad_loss = grad_loss_->data();
      call_.grad_loss_stride = grad_loss_->matrix().row_stride;
    }
    if (with_scratch) call_.row_losses = scratch_.data();
    call_.max_threads = provider.ConsumeIntegralInRange<int>(0, 3);
    call_.reject_bad_labels = provider.ConsumeBool();
  }

  Outputs RunOnce(const BadLabels& expected) {
    BadLabels bad;
    const Status status = MultilabelMarginLoss(call_, &bad);
    if (!status.ok()) Fail("refused: " + status.message());
    if (bad.count != expected.count || bad.row != expected.row || bad.column != expected.column ||
        bad.value != expected.value) {
      Fail("bad labels: " + std::to_string(bad.count) + " instead of " +
           std::to_string(expected.count));
    }
    Outputs outputs;
    if (has_loss_) outputs.loss = loss_->Take();
    if (has_mask_) outputs.mask = mask_->Take();
    if (has_gradient_) outputs.gradient = gradient_->Take();
    return outputs;
  }

  void ExpectNothingWritten() const {
    if (!loss_->IsUntouched() || !mask_->IsUntouched() || !gradient_->IsUntouched()) {
      Fail("a refused call wrote");
    }
  }

  void ExpectRejection() {
    BadLabels bad;
    const Status status = MultilabelMarginLoss(call_, &bad);
    if (status.code() != StatusCode::kLabelOutOfRange) Fail("bad labels were not rejected");
    ExpectNothingWritten();
  }

  // One argument is made wrong; the message must name it.
  void ExpectRefusal(Provider& provider) {
    const std::string argument = Spoil(provider);
    if (argument.empty()) return;
    const Status status = MultilabelMarginLoss(call_, nullptr);
    if (status.code() != StatusCode::kInvalidArgument) Fail("accepted with a bad " + argument);
    if (status.message().find(argument) == std::string::npos) {
      Fail("of " + argument + " it is said: " + status.message());
    }
    ExpectNothingWritten();
  }

  std::string Spoil(Provider& provider) {
    switch (provider.ConsumeIntegralInRange<int>(0, 9)) {
      case 0:
        return call_.rows = -1, "rows";
      case 1:
        return call_.classes = -batch_.rows, "classes";
      case 2:
        return call_.label_columns = INT64_MIN, "label_columns";
      case 3:
        return call_.max_threads = INT_MIN, "max_threads";
      case 4:
        return call_.score_type = static_cast<ScoreType>(4), "score_type";
      case 5:
        return call_.reduction = static_cast<Reduction>(-1), "reduction";
      case 6:
        return call_.label_type = static_cast<LabelType>(2), "label_type";
      case 7:
        call_.scores.data = nullptr;
        return batch_.rows > 0 ? "scores" : "";
      case 8:
        call_.loss = call_.grad_scores.data = nullptr;
        return batch_.rows > 0 ? "loss or grad_scores" : "";
      default:
        if (!labels_->csr()) return "";
        labels_->SpoilOffset(provider.ConsumeIntegralInRange<int64_t>(0, batch_.rows));
        return "label_offsets";
    }
  }

  Batch batch_;
  bool has_loss_, has_mask_, has_gradient_, has_grad_loss_;
  std::optional<StridedBuffer> scores_, grad_loss_, loss_, mask_, gradient_;
  std::optional<LabelStore> labels_;
  std::vector<double> scratch_;
  LossArguments call_;
};

}  // namespace
}  // namespace mlmargin::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mlmargin::fuzz;
  Provider provider(data, size);
  if (OneIn(provider, 4)) {
    RunSharded(provider);
  } else {
    Call(provider).Run(provider);
  }
  return 0;
}
