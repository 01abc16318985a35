// SPDX-License-Identifier: Apache-2.0
// Prints the SIMD target in use and a hash of losses, masks and gradients, which is the same on
// every CPU. For emulators: small, and linked with the library alone.
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "mlmargin/multilabel_margin_loss.h"
#include "mlmargin/settings.h"

namespace {

class Random {
 public:
  uint32_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }

 private:
  uint64_t state_ = 1;
};

class Hash {
 public:
  void Add(const std::vector<float>& values) {
    for (const float value : values) {
      // As a number, since a zero gradient may have either sign.
      const auto number = static_cast<int64_t>(static_cast<double>(value) * 0x1p40);
      value_ = (value_ ^ static_cast<uint64_t>(number)) * 1099511628211;
    }
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 14695981039346656037u;
};

// Rows of as many labels as that; false if the call failed.
bool AddBatch(int64_t rows, int64_t classes, int64_t labels, Random* random, Hash* hash) {
  const auto elements = static_cast<size_t>(rows * classes);
  std::vector<float> scores(elements), mask(elements), gradient(elements);
  std::vector<float> losses(static_cast<size_t>(rows));
  std::vector<int32_t> lists(static_cast<size_t>(rows * labels));
  for (float& score : scores) score = static_cast<float>(random->Next() % 40'000) / 10'000;
  for (int32_t& label : lists) {
    label = static_cast<int32_t>(random->Next() % static_cast<uint32_t>(classes));
  }
  mlmargin::LossArguments call;
  call.rows = rows;
  call.classes = classes;
  call.label_type = mlmargin::LabelType::kInt32;
  call.reduction = mlmargin::Reduction::kNone;
  call.scores = {scores.data(), classes, 1};
  call.labels = {lists.data(), labels, 1};
  call.label_columns = labels;
  call.loss = losses.data();
  call.mask = {mask.data(), classes, 1};
  call.grad_scores = {gradient.data(), classes, 1};
  if (!mlmargin::MultilabelMarginLoss(call, nullptr).ok()) return false;
  hash->Add(losses);
  hash->Add(mask);
  hash->Add(gradient);
  return true;
}

}  // namespace

int main() {
  Random random;
  Hash hash;
  // One for each kernel, see docs/kernels.md.
  const bool ok = AddBatch(100, 7, 3, &random, &hash) && AddBatch(3, 3'001, 20, &random, &hash) &&
                  AddBatch(3, 3'001, 700, &random, &hash);
  std::printf("%s %016" PRIx64 "\n", mlmargin::Target().c_str(), hash.value());
  return ok ? 0 : 1;
}
