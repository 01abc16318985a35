// SPDX-License-Identifier: Apache-2.0
#include "batch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <numeric>
#include <random>

namespace mlmargin::bench {
namespace {

// Rounds to nearest even; for numbers of the size of scores.
uint16_t ToFloat16(float value) {
  const uint32_t sign = (std::bit_cast<uint32_t>(value) >> 16) & 0x8000u;
  const float magnitude = std::fabs(value);
  if (magnitude < 0x1p-14f) {
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::lrint(magnitude * 0x1p24f)));
  }
  const auto bits = std::bit_cast<uint32_t>(magnitude);
  const uint32_t rounded = bits + 0xFFFu + ((bits >> 13) & 1u) - (112u << 23);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

uint16_t ToBFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

float FromFloat16(uint16_t bits) {
  const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7FFFu) << 13;
  const float value = std::bit_cast<float>(magnitude) * 0x1p112f;
  return (bits & 0x8000u) != 0 ? -value : value;
}

float FromBFloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

size_t ScoreBytes(ScoreType type) { return type == ScoreType::kFloat32 ? 4 : 2; }

void StoreScore(float value, ScoreType type, std::byte* data, size_t index) {
  if (type == ScoreType::kFloat32) {
    std::memcpy(data + 4 * index, &value, sizeof(value));
    return;
  }
  const uint16_t bits = type == ScoreType::kFloat16 ? ToFloat16(value) : ToBFloat16(value);
  std::memcpy(data + 2 * index, &bits, sizeof(bits));
}

double LoadScore(ScoreType type, const void* data, size_t index) {
  if (type == ScoreType::kFloat32) {
    return static_cast<double>(static_cast<const float*>(data)[index]);
  }
  const uint16_t bits = static_cast<const uint16_t*>(data)[index];
  return static_cast<double>(type == ScoreType::kFloat16 ? FromFloat16(bits) : FromBFloat16(bits));
}

template <typename Label>
void StoreLabels(const Batch& batch, std::byte* data) {
  auto* const to = reinterpret_cast<Label*>(data);
  const auto num_labels = static_cast<size_t>(batch.shape.labels);
  const auto num_classes = static_cast<size_t>(batch.shape.classes);
  std::fill_n(to, batch.scores.size(), Label{-1});
  for (size_t i = 0; i < batch.labels.size(); ++i) {
    to[i / num_labels * num_classes + i % num_labels] = static_cast<Label>(batch.labels[i]);
  }
}

size_t Count(const Shape& shape) { return static_cast<size_t>(shape.rows * shape.classes); }

}  // namespace

Buffer::Buffer(size_t size) : size_(size) {
  constexpr size_t kCacheLine = 64;
  const size_t whole_lines = (size + kCacheLine - 1) / kCacheLine * kCacheLine;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kCacheLine, whole_lines)));
  if (data_ == nullptr) throw std::bad_alloc();
}

Batch MakeBatch(const Shape& shape) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const bool trained = shape.score_kind == ScoreKind::kTrained;
  Batch batch{.shape = shape, .scores = {}, .labels = {}};
  batch.scores.resize(Count(shape));
  for (float& score : batch.scores) score = normal(random) - (trained ? 4.0f : 0.0f);
  // The first of a shuffled order; it stays one of all orders from row to row.
  const auto num_classes = static_cast<size_t>(shape.classes);
  std::vector<int64_t> order(num_classes);
  std::iota(order.begin(), order.end(), 0);
  for (size_t row = 0; row < static_cast<size_t>(shape.rows); ++row) {
    for (size_t i = 0; i < static_cast<size_t>(shape.labels); ++i) {
      std::uniform_int_distribution<size_t> rest(i, num_classes - 1);
      std::swap(order[i], order[rest(random)]);
      batch.labels.push_back(order[i]);
      if (trained) batch.scores[row * num_classes + static_cast<size_t>(order[i])] += 6.0f;
    }
  }
  return batch;
}

Tensors::Tensors(const Batch& batch, ScoreType score, LabelType label)
    : shape(batch.shape),
      score_type(score),
      label_type(label),
      scores(Count(batch.shape) * ScoreBytes(score)),
      labels(Count(batch.shape) * (label == LabelType::kInt32 ? 4 : 8)),
      mask(Count(batch.shape) * ScoreBytes(score)),
      expected_mask(Count(batch.shape) * ScoreBytes(score)),
      losses(static_cast<size_t>(batch.shape.rows)),
      row_losses(static_cast<size_t>(batch.shape.rows)) {
  for (size_t i = 0; i < batch.scores.size(); ++i) {
    StoreScore(batch.scores[i], score, scores.data(), i);
  }
  if (label == LabelType::kInt32) {
    StoreLabels<int32_t>(batch, labels.data());
  } else {
    StoreLabels<int64_t>(batch, labels.data());
  }
  std::memset(mask.data(), 0xFF, mask.size());
  std::memset(expected_mask.data(), 0, expected_mask.size());
  for (size_t i = 0; i < batch.labels.size(); ++i) {
    const size_t row = i / static_cast<size_t>(shape.labels);
    StoreScore(1.0f, score, expected_mask.data(),
               row * static_cast<size_t>(shape.classes) + static_cast<size_t>(batch.labels[i]));
  }
}

LossArguments Tensors::Call(Reduction reduction, Pass pass) {
  LossArguments call;
  call.rows = shape.rows;
  call.classes = shape.classes;
  call.score_type = score_type;
  call.label_type = label_type;
  call.reduction = reduction;
  call.scores = {scores.data(), shape.classes, 1};
  call.labels = {labels.data(), shape.classes, 1};
  call.label_columns = shape.classes;
  if (pass != Pass::kBackward) call.loss = losses.data();
  const Matrix output = {mask.data(), shape.classes, 1};
  if (pass == Pass::kLoss) {
    call.mask = output;
  } else {
    call.grad_scores = output;
  }
  call.row_losses = row_losses.data();
  return call;
}

double ScoreAt(const Tensors& tensors, size_t index) {
  return LoadScore(tensors.score_type, tensors.scores.data(), index);
}

double LossAt(const Tensors& tensors, size_t index) {
  return LoadScore(tensors.score_type, tensors.losses.data(), index);
}

}  // namespace mlmargin::bench
