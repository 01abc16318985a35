// SPDX-License-Identifier: Apache-2.0
#include "opapi/device_tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <utility>

namespace mlmargin::testing {

AclSession::AclSession() {
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

AclSession::~AclSession() {
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

int64_t View::NumElements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

int64_t View::IndexOf(int64_t k) const {
  int64_t index = offset;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] > 1) index += (k % shape[d]) * strides[d];
    k /= shape[d];
  }
  return index;
}

int64_t View::StorageElements() const {
  int64_t last = offset;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1) last += (shape[d] - 1) * strides[d];
  }
  return last + 1;
}

View MakeView(std::vector<int64_t> shape, ViewKind kind) {
  View view{std::move(shape), {}, 0};
  const size_t rank = view.shape.size();
  view.strides.assign(rank, 1);
  const int64_t rows = rank == 2 ? view.shape[0] : 1;
  const int64_t columns = rank == 0 ? 1 : view.shape.back();
  const auto set = [&](int64_t row_stride, int64_t column_stride, int64_t offset) {
    if (rank == 2) view.strides[0] = row_stride;
    if (rank >= 1) view.strides[rank - 1] = column_stride;
    view.offset = offset;
  };
  switch (kind) {
    case ViewKind::kContiguous:
      set(columns, 1, 0);
      break;
    case ViewKind::kTransposed:
      set(1, rows, 0);
      break;
    case ViewKind::kStepped:
      set(3 * columns + 1, 3, 5);
      break;
    case ViewKind::kPadded:
      set(columns + 7, 1, 3);
      break;
  }
  // Strides of dimensions of one element are never looked at.
  for (size_t d = 0; d < rank; ++d) {
    if (view.shape[d] <= 1) view.strides[d] = INT64_MAX;
  }
  return view;
}

aclDataType AclType(const FloatFormat& format) {
  if (format.bits == 32) return ACL_FLOAT;
  return format.mantissa_bits == 10 ? ACL_FLOAT16 : ACL_BF16;
}

DeviceTensor::DeviceTensor(View view, aclDataType dtype, size_t misalignment)
    : view_(std::move(view)), element_bytes_(aclDataTypeSize(dtype)), misalignment_(misalignment) {
  const int64_t elements = view_.NumElements() == 0 ? 0 : view_.StorageElements() + 4;
  bytes_ = static_cast<size_t>(elements) * element_bytes_;
  if (elements > 0) {
    EXPECT_EQ(aclrtMalloc(&allocation_, bytes_ + misalignment_, ACL_MEM_MALLOC_HUGE_FIRST),
              ACL_SUCCESS);
    Upload(std::vector<unsigned char>(bytes_, 0xA5));
  }
  handle_ = aclCreateTensor(view_.shape.data(), view_.shape.size(), dtype, view_.strides.data(),
                            view_.offset, ACL_FORMAT_ND, &elements, 1,
                            allocation_ == nullptr ? nullptr : data());
  EXPECT_NE(handle_, nullptr);
}

DeviceTensor::~DeviceTensor() {
  EXPECT_EQ(aclDestroyTensor(handle_), ACL_SUCCESS);
  if (allocation_ != nullptr) {
    EXPECT_EQ(aclrtFree(allocation_), ACL_SUCCESS);
  }
}

size_t DeviceTensor::ByteOf(int64_t k) const {
  return static_cast<size_t>(view_.IndexOf(k)) * element_bytes_;
}

std::vector<unsigned char> DeviceTensor::Download() const {
  std::vector<unsigned char> bytes(bytes_);
  EXPECT_EQ(aclrtMemcpy(bytes.data(), bytes_, data(), bytes_, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  return bytes;
}

void DeviceTensor::Upload(const std::vector<unsigned char>& bytes) {
  written_ = bytes;
  EXPECT_EQ(aclrtMemcpy(data(), bytes_, bytes.data(), bytes_, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
}

void DeviceTensor::Write(const std::vector<int64_t>& values) {
  if (values.empty()) return;
  std::vector<unsigned char> bytes = written_;
  for (size_t k = 0; k < values.size(); ++k) {  // Little-endian.
    std::memcpy(bytes.data() + ByteOf(static_cast<int64_t>(k)), &values[k], element_bytes_);
  }
  Upload(bytes);
}

std::vector<uint32_t> DeviceTensor::Read() const {
  std::vector<uint32_t> values;
  if (bytes_ == 0) return values;
  const std::vector<unsigned char> bytes = Download();
  for (int64_t k = 0; k < view_.NumElements(); ++k) {
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + ByteOf(k), element_bytes_);
    values.push_back(value);
  }
  return values;
}

bool DeviceTensor::GuardsIntact() const {
  if (bytes_ == 0) return true;
  std::vector<unsigned char> bytes = Download();
  for (int64_t k = 0; k < view_.NumElements(); ++k) {
    std::memcpy(bytes.data() + ByteOf(k), written_.data() + ByteOf(k), element_bytes_);
  }
  return bytes == written_;
}

bool DeviceTensor::Untouched() const { return bytes_ == 0 || Download() == written_; }

}  // namespace mlmargin::testing
