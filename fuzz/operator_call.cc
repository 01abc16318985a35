// SPDX-License-Identifier: Apache-2.0
#include "operator_call.h"

#include <algorithm>
#include <cstring>

#include "acl/acl.h"
#include "operator_model.h"

namespace mlmargin::fuzz {
namespace {

constexpr int64_t kOddNumbers[] = {
    0, 1, 2, 3, -1, 7, int64_t{1} << 31, int64_t{1} << 61, INT64_MAX, INT64_MIN};
constexpr size_t kLargestArena = size_t{4} << 20;

// An enumerator, or any number at all.
template <typename Enum>
Enum AnyEnum(Provider& provider) {
  return static_cast<Enum>(OneIn(provider, 4) ? provider.ConsumeIntegral<int32_t>()
                                              : provider.ConsumeIntegralInRange<int32_t>(-2, 60));
}

std::vector<int64_t> PickStrides(Provider& provider, const TensorSpec& tensor) {
  const auto step = provider.ConsumeIntegralInRange<int64_t>(1, 3);
  const auto extra = provider.ConsumeIntegralInRange<int64_t>(0, 5);
  const std::vector<int64_t>& shape = tensor.shape;
  std::vector<int64_t> strides(shape.size(), step);
  const bool shared = !tensor.is_output && OneIn(provider, 4);
  if (shape.size() == 2) {
    if (provider.ConsumeBool()) {
      strides[1] = shape[0] * step + extra;  // Transposed.
    } else {
      strides[0] = shape[1] * step + extra;
    }
  }
  if (shared && !strides.empty()) {  // One row for all, windows, or one element for all.
    strides[provider.ConsumeIntegralInRange<size_t>(0, strides.size() - 1)] =
        provider.ConsumeIntegralInRange<int64_t>(0, 1);
  }
  for (size_t d = 0; d < shape.size(); ++d) {  // Not looked at.
    if (shape[d] <= 1) strides[d] = std::max<int64_t>(0, Pick(provider, kOddNumbers));
  }
  return strides;
}

}  // namespace

bool TensorSpec::IsEmpty() const { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

int64_t TensorSpec::Stride(size_t dim) const {
  if (strides.has_value()) return (*strides)[dim];
  int64_t stride = 1;
  for (size_t d = dim + 1; d < shape.size(); ++d) {
    if (__builtin_mul_overflow(stride, shape[d], &stride)) return INT64_MAX;
  }
  return stride;
}

aclTensor* TensorSpec::Make() const {
  return aclCreateTensor(shape.data(), shape.size(), dtype,
                         strides.has_value() ? strides->data() : nullptr, offset, format,
                         storage.data(), storage.size(), data);
}

// As aclrtMalloc rounds up.
Arena::Arena(size_t bytes) : bytes_((bytes + 31) / 32 * 32) {
  void* data = nullptr;
  if (aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_NORMAL_ONLY) != 0) Fail("no memory for an arena");
  data_ = static_cast<unsigned char*>(data);
  std::memset(data_, 0xA5, bytes_);
}

Arena::~Arena() {
  if (aclrtFree(data_) != 0) Fail("an arena could not be freed");
}

bool Arena::Holds(const void* from, size_t bytes) const {
  const auto begin = reinterpret_cast<uintptr_t>(data_);
  const auto first = reinterpret_cast<uintptr_t>(from);
  return first >= begin && first - begin <= bytes_ && bytes <= bytes_ - (first - begin);
}

OperatorCall::OperatorCall(Provider& provider) {
  const Shape shape = PickShape(provider);
  kind = provider.ConsumeBool() ? OperatorKind::kBackward : OperatorKind::kLoss;
  reduction = provider.ConsumeIntegralInRange<int64_t>(0, 2);
  constexpr aclDataType kTypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  constexpr aclDataType kLabelTypes[] = {ACL_INT64, ACL_INT32};
  const aclDataType type = Pick(provider, kTypes);
  const aclDataType label_type = Pick(provider, kLabelTypes);
  const bool one_row = shape.rows == 1 && provider.ConsumeBool();
  std::vector<int64_t> matrix = {shape.rows, shape.classes};
  if (one_row) matrix = {shape.classes};
  if (one_row && shape.classes == 1 && provider.ConsumeBool()) matrix = {};
  std::vector<int64_t> list;
  if (reduction == 0 && !one_row) list = {shape.rows};
  const bool backward = kind == OperatorKind::kBackward;
  if (backward) AddTensor(provider, "gradOutput", false, list, type);
  AddTensor(provider, "self", false, matrix, type);
  AddTensor(provider, "target", false, matrix, label_type);
  if (!backward) AddTensor(provider, "out", true, list, type);
  AddTensor(provider, "isTarget", !backward, matrix, type);
  if (backward) AddTensor(provider, "gradInput", true, matrix, type);
  Place(provider);
  Fill(provider, one_row ? Shape{1, shape.classes} : shape);
  if (OneIn(provider, 4)) reduction = Pick(provider, kOddNumbers);
  for (int left = OneIn(provider, 3) ? 1 + OneIn(provider, 3) : 0; left > 0; --left)
    Spoil(provider);
}

TensorSpec& OperatorCall::Named(const char* name) {
  for (TensorSpec& tensor : tensors) {
    if (std::strcmp(tensor.name, name) == 0) return tensor;
  }
  Fail(std::string("no tensor ") + name);
}

const TensorSpec& OperatorCall::Named(const char* name) const {
  return const_cast<OperatorCall*>(this)->Named(name);
}

void OperatorCall::AddTensor(Provider& provider, const char* name, bool is_output,
                             std::vector<int64_t> shape, aclDataType dtype) {
  TensorSpec tensor;
  tensor.name = name;
  tensor.is_output = is_output;
  tensor.shape = std::move(shape);
  tensor.dtype = dtype;
  if (!provider.ConsumeBool()) tensor.strides = PickStrides(provider, tensor);
  tensor.offset = provider.ConsumeIntegralInRange<int64_t>(0, 7);
  const View view(tensor);
  tensor.storage = {view.last_index() + 1 + provider.ConsumeIntegralInRange<int64_t>(0, 3)};
  tensors.push_back(std::move(tensor));
}

// One behind the other, a few bytes apart.
void OperatorCall::Place(Provider& provider) {
  std::vector<size_t> begins;
  size_t end = 0;
  for (const TensorSpec& tensor : tensors) {
    begins.push_back(end + provider.ConsumeIntegralInRange<size_t>(0, 9));
    end = begins.back() + static_cast<size_t>(tensor.storage[0]) * aclDataTypeSize(tensor.dtype);
  }
  if (end > kLargestArena) Fail("the arena is too large: " + std::to_string(end));
  arena.emplace(end + provider.ConsumeIntegralInRange<size_t>(1, 64));
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].data = arena->data() + begins[i];
    if (tensors[i].IsEmpty() && provider.ConsumeBool()) tensors[i].data = nullptr;
  }
}

void OperatorCall::Fill(Provider& provider, const Shape& shape) {
  for (const TensorSpec& tensor : tensors) {
    if (tensor.is_output || tensor.IsEmpty()) continue;
    const View view(tensor);
    const size_t bytes = aclDataTypeSize(tensor.dtype);
    if (std::strcmp(tensor.name, "target") == 0) {
      LabelSource source(provider, shape);
      for (int64_t n = 0, k = 0; n < shape.rows; ++n) {
        for (const int64_t label : source.NextRow(shape.classes)) {
          std::memcpy(view.At(k++), &label, bytes);
        }
      }
      continue;
    }
    ScoreSource source(provider, FormatOf(tensor.dtype));
    for (int64_t k = 0; k < view.num_elements(); ++k) {
      const uint64_t bits = source.Next();
      std::memcpy(view.At(k), &bits, bytes);
    }
  }
}

// Makes something of one tensor wrong, or at least unusual.
void OperatorCall::Spoil(Provider& provider) {
  TensorSpec& tensor = tensors[provider.ConsumeIntegralInRange<size_t>(0, tensors.size() - 1)];
  const TensorSpec& other = tensors[provider.ConsumeIntegralInRange<size_t>(0, tensors.size() - 1)];
  const auto any_of = [&](std::vector<int64_t>& list) {
    if (list.empty() || OneIn(provider, 4)) {
      list.push_back(Pick(provider, kOddNumbers));
    } else if (OneIn(provider, 4)) {
      list.pop_back();
    } else {
      list[provider.ConsumeIntegralInRange<size_t>(0, list.size() - 1)] =
          Pick(provider, kOddNumbers);
    }
  };
  switch (provider.ConsumeIntegralInRange<int>(0, 8)) {
    case 0:
      tensor.dtype = AnyEnum<aclDataType>(provider);
      break;
    case 1:
      tensor.format = AnyEnum<aclFormat>(provider);
      break;
    case 2:
      any_of(tensor.shape);
      break;
    case 3: {
      std::vector<int64_t> strides;
      for (size_t d = 0; d < tensor.shape.size(); ++d) strides.push_back(tensor.Stride(d));
      if (!strides.empty()) {
        strides[provider.ConsumeIntegralInRange<size_t>(0, strides.size() - 1)] =
            Pick(provider, kOddNumbers);
      }
      tensor.strides = strides;
      break;
    }
    case 4:
      tensor.offset = Pick(provider, kOddNumbers);
      break;
    case 5:
      any_of(tensor.storage);
      break;
    case 6:
      tensor.data = nullptr;
      break;
    default:  // Beside or upon another one.
      if (other.data == nullptr) break;
      tensor.data =
          static_cast<unsigned char*>(other.data) + provider.ConsumeIntegralInRange<int64_t>(0, 40);
      break;
  }
  // Strides are as many as dimensions.
  if (tensor.strides.has_value()) tensor.strides->resize(tensor.shape.size(), 1);
}

}  // namespace mlmargin::fuzz
