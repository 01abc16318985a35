// SPDX-License-Identifier: Apache-2.0
#include "fuzz_sharded.h"

#include <algorithm>

#include "batch_oracle.h"
#include "mlmargin/sharded_loss.h"

namespace mlmargin::fuzz {
namespace {

constexpr ScoreType kTypes[] = {ScoreType::kFloat32, ScoreType::kFloat16, ScoreType::kBFloat16,
                                ScoreType::kFloat64};
constexpr Reduction kReductions[] = {Reduction::kNone, Reduction::kMean, Reduction::kSum};

// Contiguous elements of a score type.
class Elements {
 public:
  Elements(ScoreType type, int64_t count)
      : bytes_(FormatOf(type).bytes()),
        data_(static_cast<size_t>(count) * bytes_ + 1) {}  // Never null.
  void* data() { return data_.data(); }
  void* At(int64_t k) { return data_.data() + static_cast<size_t>(k) * bytes_; }
  void Set(int64_t k, uint64_t bits) { std::memcpy(At(k), &bits, bytes_); }
  std::vector<uint64_t> All() {
    std::vector<uint64_t> all(data_.size() / bytes_);
    for (size_t k = 0; k < all.size(); ++k) {
      std::memcpy(&all[k], At(static_cast<int64_t>(k)), bytes_);
    }
    return all;
  }

 private:
  size_t bytes_;
  std::vector<unsigned char> data_;
};

void Require(const Status& status, const char* call) {
  if (!status.ok()) Fail(std::string(call) + " refused: " + status.message());
}

class Problem {
 public:
  explicit Problem(Provider& provider)
      : shape_(PickShape(provider)),
        type_(Pick(provider, kTypes)),
        columns_(provider.ConsumeIntegralInRange<int64_t>(0, 70)),
        scores_(type_, shape_.rows * shape_.classes),
        label_scores_(type_, shape_.rows * columns_) {
    batch_.type = type_;
    batch_.reduction = Pick(provider, kReductions);
    batch_.rows = shape_.rows;
    batch_.classes = shape_.classes;
    ScoreSource scores(provider, batch_.format());
    LabelSource labels(provider, shape_);
    for (int64_t n = 0; n < shape_.rows; ++n) MakeRow(n, scores, labels);
    max_threads_ = provider.ConsumeIntegralInRange<int>(0, 3);
    PickShards(provider);
  }

  void Run() {
    Outputs sharded = RunShards();
    sharded.UnifyNaNs(batch_.format());
    Judge(batch_, sharded);
    Outputs whole = RunWhole();
    whole.UnifyNaNs(batch_.format());
    if (sharded.gradient != whole.gradient) Fail("a shard's gradient has other bits");
    if (at_parts_ && shape_.classes > 128 && sharded.loss != whole.loss) {
      Fail("the loss by shards has other bits");
    }
  }

 private:
  struct Shard {
    int64_t begin, end;
    std::vector<double> sums;
  };

  void MakeRow(int64_t n, ScoreSource& scores, LabelSource& labels) {
    std::vector<double> row;
    std::vector<uint64_t> bits;
    for (int64_t i = 0; i < shape_.classes; ++i) {
      bits.push_back(scores.Next());
      scores_.Set(n * shape_.classes + i, bits.back());
      row.push_back(batch_.format().Decode(bits.back()));
    }
    batch_.scores.push_back(std::move(row));
    batch_.labels.push_back(labels.NextRow(columns_));
    for (int64_t k = 0; k < columns_; ++k) {
      const int64_t label = batch_.labels.back()[static_cast<size_t>(k)];
      const bool known = label >= 0 && label < shape_.classes;
      label_scores_.Set(n * columns_ + k, known ? bits[static_cast<size_t>(label)] : 0x5A5A);
      labels_.push_back(label);
    }
  }

  void PickShards(Provider& provider) {
    at_parts_ = provider.ConsumeBool();
    const int64_t unit = at_parts_ ? PartClasses(shape_.classes) : 1;
    int64_t begin = 0;
    for (auto left = provider.ConsumeIntegralInRange<int>(0, 3); left > 0; --left) {
      const int64_t length =
          provider.ConsumeIntegralInRange<int64_t>(0, shape_.classes - begin) / unit * unit;
      shards_.push_back({begin, begin + length, {}});
      begin += length;
    }
    shards_.push_back({begin, shape_.classes, {}});
  }

  ShardArguments Describe(const Shard& shard) {
    ShardArguments call;
    call.rows = shape_.rows;
    call.classes = shape_.classes;
    call.first_class = shard.begin;
    call.shard_classes = shard.end - shard.begin;
    call.score_type = type_;
    call.reduction = batch_.reduction;
    call.scores = {scores_.At(shard.begin), shape_.classes, 1};
    call.labels = {labels_.data(), columns_, 1};
    call.label_columns = columns_;
    call.label_scores = {label_scores_.data(), columns_, 1};
    call.max_threads = max_threads_;
    return call;
  }

  // By shard the sums of its parts, and over all of them the counts of the labels.
  int64_t SumShards(std::vector<int64_t>* counts) {
    const BadLabels expected = ExpectedBadLabels(batch_);
    int64_t parts = 0;
    for (Shard& shard : shards_) {
      const int64_t own = NumParts(shape_.classes, shard.end - shard.begin);
      shard.sums.resize(static_cast<size_t>(shape_.rows * own * SumsPerPart(type_)));
      std::vector<int64_t> shard_counts(labels_.size(), -7);
      BadLabels bad;
      Require(SumShard(Describe(shard), shard.sums.data(), shard_counts.data(), &bad), "SumShard");
      if (bad.count != expected.count || bad.value != expected.value) Fail("bad labels of a shard");
      for (size_t k = 0; k < counts->size(); ++k) (*counts)[k] += shard_counts[k];
      parts += own;
    }
    return parts;
  }

  std::vector<double> Gather(int64_t parts) const {
    std::vector<double> all;
    all.reserve(static_cast<size_t>(shape_.rows * parts * SumsPerPart(type_)));
    for (int64_t n = 0; n < shape_.rows; ++n) {
      for (const Shard& shard : shards_) {
        const int64_t length = std::ssize(shard.sums) / shape_.rows;
        all.insert(all.end(), shard.sums.begin() + n * length,
                   shard.sums.begin() + (n + 1) * length);
      }
    }
    return all;
  }

  Outputs RunShards() {
    std::vector<int64_t> counts(labels_.size());
    const int64_t parts = SumShards(&counts);
    const std::vector<double> sums = Gather(parts);
    Elements loss(type_, batch_.num_losses());
    Require(ReduceParts(sums.data(), shape_.rows, parts, shape_.classes, type_, batch_.reduction,
                        loss.data()),
            "ReduceParts");
    Elements gradient(type_, shape_.rows * shape_.classes);
    for (const Shard& shard : shards_) {
      Require(GradientOfShard(Describe(shard), counts.data(), nullptr,
                              {gradient.At(shard.begin), shape_.classes, 1}),
              "GradientOfShard");
    }
    return {loss.All(), {}, gradient.All()};
  }

  Outputs RunWhole() {
    Elements loss(type_, batch_.num_losses());
    Elements gradient(type_, shape_.rows * shape_.classes);
    LossArguments call;
    call.rows = shape_.rows;
    call.classes = shape_.classes;
    call.score_type = type_;
    call.reduction = batch_.reduction;
    call.scores = {scores_.data(), shape_.classes, 1};
    call.labels = {labels_.data(), columns_, 1};
    call.label_columns = columns_;
    call.loss = loss.data();
    call.grad_scores = {gradient.data(), shape_.classes, 1};
    Require(MultilabelMarginLoss(call, nullptr), "MultilabelMarginLoss");
    return {loss.All(), {}, gradient.All()};
  }

  Shape shape_;
  ScoreType type_;
  int64_t columns_;
  Batch batch_;
  Elements scores_, label_scores_;
  std::vector<int64_t> labels_;
  std::vector<Shard> shards_;
  bool at_parts_ = false;
  int max_threads_ = 0;
};

}  // namespace

void RunSharded(Provider& provider) { Problem(provider).Run(); }

}  // namespace mlmargin::fuzz
