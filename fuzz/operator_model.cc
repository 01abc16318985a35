// SPDX-License-Identifier: Apache-2.0
#include "operator_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/batch.h"
#include "support/exact_gradient.h"

namespace mlmargin::fuzz {
namespace {

using Int128 = __int128;
using testing::ExactValue;
using Shape64 = std::vector<int64_t>;

constexpr int64_t kMostElements = 1 << 16;

bool IsScoreType(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16;
}

bool IsPlainFormat(aclFormat format) {
  constexpr aclFormat kPlain[] = {ACL_FORMAT_ND,    ACL_FORMAT_NC,   ACL_FORMAT_NCL,
                                  ACL_FORMAT_NCHW,  ACL_FORMAT_NHWC, ACL_FORMAT_HWCN,
                                  ACL_FORMAT_NCDHW, ACL_FORMAT_NDHWC};
  return std::find(std::begin(kPlain), std::end(kPlain), format) != std::end(kPlain);
}

bool IsSingle(const Shape64& shape) { return shape.empty() || shape == Shape64{1}; }

bool LikeSelf(const Shape64& shape, const Shape64& self) {
  return shape == self || (IsSingle(shape) && IsSingle(self));
}

bool HasRightShapes(const OperatorCall& call) {
  const Shape64& self = call.Named("self").shape;
  const Shape64& target = call.Named("target").shape;
  const TensorSpec& mask = call.Named("isTarget");
  const bool backward = call.kind == OperatorKind::kBackward;
  const Shape64& list = call.Named(backward ? "gradOutput" : "out").shape;
  if (self.size() > 2 || (!self.empty() && self.back() == 0)) return false;
  if (!LikeSelf(target, self)) return false;
  if (self.size() == 2 && self[0] == 0) {
    if (mask.shape.size() > 2 || !mask.IsEmpty()) return false;
  } else if (mask.shape != target) {
    return false;
  }
  if (backward && !LikeSelf(call.Named("gradInput").shape, self)) return false;
  if (call.reduction == 0 && self.size() == 2) return list == Shape64{self[0]};
  return IsSingle(list);
}

bool HasRightTypes(const OperatorCall& call) {
  const aclDataType type = call.Named("self").dtype;
  if (!IsScoreType(type)) return false;
  return std::all_of(call.tensors.begin(), call.tensors.end(), [&](const TensorSpec& tensor) {
    if (std::strcmp(tensor.name, "target") != 0) return tensor.dtype == type;
    return tensor.dtype == ACL_INT32 || tensor.dtype == ACL_INT64;
  });
}

bool LiesInStorage(const TensorSpec& tensor) {
  if (tensor.IsEmpty()) return true;
  Int128 last = tensor.offset;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    last += Int128{tensor.shape[d] - 1} * tensor.Stride(d);
    if (last > INT64_MAX) return false;
  }
  if ((last + 1) * static_cast<Int128>(aclDataTypeSize(tensor.dtype)) > INT64_MAX) return false;
  Int128 storage = 1;
  for (const int64_t dim : tensor.storage) {
    storage = std::min<Int128>(storage * dim, INT64_MAX);
    if (dim == 0) return false;
  }
  // A dimension of 0 further on.
  for (const int64_t dim : tensor.storage) storage = dim == 0 ? 0 : storage;
  return last < storage;
}

// Whether two neighbours of the sorted starts share a byte.
bool SharesAddress(const View& view, size_t bytes) {
  const std::vector<uintptr_t> starts = view.SortedStarts();
  return std::adjacent_find(starts.begin(), starts.end(), [&](uintptr_t a, uintptr_t b) {
           return b - a < bytes;
         }) != starts.end();
}

bool ShareByte(const TensorSpec& a, const TensorSpec& b) {
  const std::vector<uintptr_t> a_starts = View(a).SortedStarts();
  const std::vector<uintptr_t> b_starts = View(b).SortedStarts();
  const size_t a_bytes = aclDataTypeSize(a.dtype), b_bytes = aclDataTypeSize(b.dtype);
  for (size_t i = 0, j = 0; i < a_starts.size() && j < b_starts.size();) {
    if (a_starts[i] + a_bytes <= b_starts[j]) {
      ++i;
    } else if (b_starts[j] + b_bytes <= a_starts[i]) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

bool AnyHuge(const OperatorCall& call) {
  return std::any_of(call.tensors.begin(), call.tensors.end(),
                     [](const TensorSpec& tensor) { return View(tensor).is_huge(); });
}

bool HasOverlap(const OperatorCall& call) {
  for (const TensorSpec& output : call.tensors) {
    if (!output.is_output) continue;
    for (const TensorSpec& other : call.tensors) {
      if (&other == &output || output.data == nullptr || other.data == nullptr) continue;
      if (ShareByte(output, other)) return true;
    }
  }
  return false;
}

std::vector<uint32_t> ReadBits(const TensorSpec& tensor) {
  const View view(tensor);
  std::vector<uint32_t> all;
  for (int64_t k = 0; k < view.num_elements(); ++k) {
    uint32_t bits = 0;
    std::memcpy(&bits, view.At(k), aclDataTypeSize(tensor.dtype));
    all.push_back(bits);
  }
  return all;
}

testing::Batch ReadBatch(const OperatorCall& call) {
  const TensorSpec& self = call.Named("self");
  const TensorSpec& target = call.Named("target");
  testing::Batch batch{*FormatOf(self.dtype).narrow, 1, 1, {}, {}};
  if (self.shape.size() == 2) batch.rows = self.shape[0];
  if (!self.shape.empty()) batch.classes = self.shape.back();
  batch.scores = ReadBits(self);
  const View labels(target);
  for (int64_t k = 0; k < labels.num_elements(); ++k) {
    int64_t label = 0;
    if (target.dtype == ACL_INT64) {
      std::memcpy(&label, labels.At(k), 8);
    } else {
      int32_t narrow = 0;
      std::memcpy(&narrow, labels.At(k), 4);
      label = narrow;
    }
    batch.labels.push_back(label);
  }
  return batch;
}

void JudgeValues(const TensorSpec& output, const std::vector<ExactValue>& exact) {
  const ScoreFormat format = FormatOf(output.dtype);
  const std::vector<uint32_t> bits = ReadBits(output);
  for (size_t k = 0; k < exact.size(); ++k) {
    const double got = format.Decode(bits[k]);
    if (IsWithinOneUlp(format, exact[k], got)) continue;
    Fail(std::string(output.name) + " element " + std::to_string(k) + " is " + std::to_string(got) +
         ", exactly " + std::to_string(exact[k].value.get_d()));
  }
}

void JudgeLoss(const OperatorCall& call, const testing::Batch& batch) {
  const TensorSpec& out = call.Named("out");
  if (batch.rows == 0) {
    if (call.reduction == 0) return;
    const double got = FormatOf(out.dtype).Decode(ReadBits(out)[0]);
    if (call.reduction == 1 ? !std::isnan(got) : got != 0) Fail("the loss of an empty batch");
    return;
  }
  const testing::Expected expected(batch);
  JudgeValues(out, expected.Losses(call.reduction));
  const std::vector<uint32_t> mask = ReadBits(call.Named("isTarget"));
  for (size_t k = 0; k < mask.size(); ++k) {
    if (mask[k] != (expected.mask()[k] == 1 ? batch.format.one() : 0)) {
      Fail("isTarget element " + std::to_string(k));
    }
  }
}

void JudgeGradient(const OperatorCall& call, const testing::Batch& batch) {
  std::vector<uint32_t> grad_losses = ReadBits(call.Named("gradOutput"));
  const ScoreFormat format{&batch.format};
  // What an infinity or a NaN gives is what multiplication gives: judged as any other number here,
  // and left out below.
  std::vector<bool> left_out;
  for (uint32_t& bits : grad_losses) {
    left_out.push_back(!std::isfinite(format.Decode(bits)));
    if (left_out.back()) bits = 0;
  }
  if (batch.rows == 0) return;
  std::vector<ExactValue> exact =
      testing::ExpectedGradient(batch).Values(call.reduction, grad_losses);
  const TensorSpec& output = call.Named("gradInput");
  const std::vector<uint32_t> bits = ReadBits(output);
  for (size_t k = 0; k < exact.size(); ++k) {
    const size_t row = k / static_cast<size_t>(batch.classes);
    if (left_out[call.reduction == 0 ? row : 0]) continue;
    if (!IsWithinOneUlp(format, exact[k], format.Decode(bits[k]))) {
      Fail("gradInput element " + std::to_string(k) + " is " +
           std::to_string(format.Decode(bits[k])) + ", exactly " +
           std::to_string(exact[k].value.get_d()));
    }
  }
}

}  // namespace

ScoreFormat FormatOf(aclDataType dtype) {
  if (dtype == ACL_FLOAT16) return {&testing::kFloat16};
  return {dtype == ACL_BF16 ? &testing::kBFloat16 : &testing::kFloat32};
}

View::View(const TensorSpec& tensor) : tensor_(tensor), last_index_(tensor.offset) {
  if (tensor.IsEmpty()) {
    num_elements_ = 0;
    --last_index_;
    return;
  }
  Int128 last = tensor.offset;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    if (__builtin_mul_overflow(num_elements_, tensor.shape[d], &num_elements_)) is_huge_ = true;
    last += Int128{tensor.shape[d] - 1} * tensor.Stride(d);
    if (last > INT32_MAX) is_huge_ = true;
    if (is_huge_) return;
  }
  is_huge_ = num_elements_ > kMostElements;
  last_index_ = static_cast<int64_t>(last);
}

unsigned char* View::At(int64_t k) const {
  int64_t index = tensor_.offset;
  for (size_t d = tensor_.shape.size(); d-- > 0;) {
    const int64_t dim = tensor_.shape[d];
    if (dim > 1) index += k % dim * tensor_.Stride(d);
    k /= dim;
  }
  // Of a null tensor too, whose view may still be looked at.
  return reinterpret_cast<unsigned char*>(reinterpret_cast<uintptr_t>(tensor_.data) +
                                          static_cast<uintptr_t>(index) *
                                              aclDataTypeSize(tensor_.dtype));
}

std::vector<uintptr_t> View::SortedStarts() const {
  std::vector<uintptr_t> starts;
  for (int64_t k = 0; k < num_elements_; ++k) starts.push_back(reinterpret_cast<uintptr_t>(At(k)));
  std::sort(starts.begin(), starts.end());
  return starts;
}

std::optional<bool> IsAcceptable(const OperatorCall& call) {
  if (call.reduction < 0 || call.reduction > 2) return false;
  if (!HasRightTypes(call) || !HasRightShapes(call)) return false;
  for (const TensorSpec& tensor : call.tensors) {
    if (!IsPlainFormat(tensor.format) || !LiesInStorage(tensor)) return false;
  }
  if (AnyHuge(call)) return std::nullopt;
  for (const TensorSpec& tensor : call.tensors) {
    if (tensor.is_output && SharesAddress(View(tensor), aclDataTypeSize(tensor.dtype))) {
      return false;
    }
  }
  return !HasOverlap(call);
}

std::optional<bool> IsRunnable(const OperatorCall& call) {
  if (AnyHuge(call)) return std::nullopt;
  for (const TensorSpec& tensor : call.tensors) {
    const bool unread =
        call.kind == OperatorKind::kBackward && std::strcmp(tensor.name, "isTarget") == 0;
    if (tensor.IsEmpty() || unread) continue;
    if (tensor.data == nullptr) return false;
    const size_t bytes = aclDataTypeSize(tensor.dtype);
    const View view(tensor);
    const auto* const first =
        static_cast<unsigned char*>(tensor.data) + static_cast<size_t>(tensor.offset) * bytes;
    const auto touched = static_cast<size_t>(view.last_index() - tensor.offset + 1) * bytes;
    if (!call.arena->Holds(first, touched)) return false;
  }
  return !HasOverlap(call);
}

bool HasBadLabels(const OperatorCall& call) {
  const testing::Batch batch = ReadBatch(call);
  for (int64_t n = 0; n < batch.rows; ++n) {
    for (const int64_t label : batch.RowLabels(n)) {
      if (label == -1) break;
      if (label < 0 || label >= batch.classes) return true;
    }
  }
  return false;
}

void JudgeMemory(const OperatorCall& call, const std::vector<unsigned char>& before,
                 bool rejected) {
  std::vector<unsigned char> after(call.arena->data(), call.arena->data() + before.size());
  const testing::Batch batch = ReadBatch(call);
  const bool writes = !rejected && (batch.rows > 0 || call.kind == OperatorKind::kLoss);
  for (const TensorSpec& tensor : call.tensors) {
    if (!tensor.is_output || !writes) continue;
    const View view(tensor);
    for (int64_t k = 0; k < view.num_elements(); ++k) {
      const auto at = static_cast<size_t>(view.At(k) - call.arena->data());
      std::memcpy(&after[at], &before[at], aclDataTypeSize(tensor.dtype));
    }
  }
  if (after != before) Fail("a byte outside the outputs was written");
  if (rejected) return;
  if (call.kind == OperatorKind::kLoss) {
    JudgeLoss(call, batch);
  } else {
    JudgeGradient(call, batch);
  }
}

}  // namespace mlmargin::fuzz
