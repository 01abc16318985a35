// SPDX-License-Identifier: Apache-2.0
#include "opapi/overlap.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

namespace mlmargin::opapi {
namespace {

nnopbase::Tensor MakeTensor(std::vector<int64_t> shape, std::vector<int64_t> strides,
                            int64_t offset, aclDataType dtype = ACL_FLOAT) {
  nnopbase::Tensor tensor;
  tensor.view_shape = std::move(shape);
  tensor.strides = std::move(strides);
  tensor.offset = offset;
  tensor.dtype = dtype;
  return tensor;
}

const void* Address(uint64_t address) { return reinterpret_cast<const void*>(address); }

// Every byte of the view, counted: the naive truth.
std::multiset<uint64_t> BytesOf(const nnopbase::Tensor& tensor, uint64_t address) {
  std::multiset<uint64_t> bytes;
  const auto size = static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
  const size_t rank = tensor.view_shape.size();
  const int64_t rows = rank == 2 ? tensor.view_shape[0] : 1;
  const int64_t columns = rank >= 1 ? tensor.view_shape.back() : 1;
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t i = 0; i < columns; ++i) {
      const int64_t element = tensor.offset + (rank == 2 ? n * tensor.strides[0] : 0) +
                              (rank >= 1 ? i * tensor.strides.back() : 0);
      for (int64_t b = 0; b < size; ++b) {
        bytes.insert(address + static_cast<uint64_t>(element * size + b));
      }
    }
  }
  return bytes;
}

nnopbase::Tensor ArbitraryTensor() {
  const auto rank = *rc::gen::inRange<size_t>(0, 3);
  const auto dims = rc::gen::container<std::vector<int64_t>>(rank, rc::gen::inRange<int64_t>(0, 9));
  const auto strides =
      rc::gen::container<std::vector<int64_t>>(rank, rc::gen::inRange<int64_t>(0, 12));
  const auto dtype = *rc::gen::element(ACL_FLOAT, ACL_FLOAT16, ACL_INT64);
  return MakeTensor(*dims, *strides, *rc::gen::inRange<int64_t>(0, 6), dtype);
}

RC_GTEST_PROP(OverlapTest, AgreesWithCountingEveryByte, ()) {
  const nnopbase::Tensor a = ArbitraryTensor();
  const nnopbase::Tensor b = ArbitraryTensor();
  const auto a_address = *rc::gen::inRange<uint64_t>(4096, 4200);
  const auto b_address = *rc::gen::inRange<uint64_t>(4096, 4200);
  const auto a_bytes = BytesOf(a, a_address);
  const auto b_bytes = BytesOf(b, b_address);
  bool shared = false;
  for (const uint64_t byte : a_bytes) shared = shared || b_bytes.count(byte) > 0;
  const ByteView a_view = MakeByteView(a, Address(a_address));
  const ByteView b_view = MakeByteView(b, Address(b_address));
  RC_ASSERT(ShareByte(a_view, b_view) == shared);
  RC_ASSERT(ShareByte(b_view, a_view) == shared);
  bool repeats = false;
  for (const uint64_t byte : a_bytes) repeats = repeats || a_bytes.count(byte) > 1;
  RC_ASSERT(a_view.repeats == repeats);
}

TEST(OverlapTest, HugeInterleavedViewsAreDecidedAtOnce) {
  // Even and odd columns, halves of each row, and both transposed, of 10^6 x 10^6.
  const int64_t n = 1'000'000;
  const auto even = MakeByteView(MakeTensor({n, n}, {2 * n, 2}, 0), Address(4096));
  const auto odd = MakeByteView(MakeTensor({n, n}, {2 * n, 2}, 1), Address(4096));
  EXPECT_FALSE(ShareByte(even, odd));
  EXPECT_TRUE(ShareByte(even, even));
  const auto left = MakeByteView(MakeTensor({n, n}, {2 * n, 1}, 0), Address(4096));
  const auto right = MakeByteView(MakeTensor({n, n}, {2 * n, 1}, n), Address(4096));
  EXPECT_FALSE(ShareByte(left, right));
  const auto transposed = MakeByteView(MakeTensor({n, n}, {1, 2 * n}, 0), Address(4096));
  EXPECT_FALSE(ShareByte(transposed, right));
  EXPECT_TRUE(ShareByte(transposed, left));
  const auto shifted = MakeByteView(MakeTensor({n, n}, {2 * n, 1}, n - 1), Address(4096));
  EXPECT_TRUE(ShareByte(left, shifted));
}

TEST(OverlapTest, DifferentStridesThatNeverMeetAreTold) {
  // Bytes 0, 6, 12, ... against 3, 12 + 3, ...: elements of two bytes never meet.
  const auto a = MakeByteView(MakeTensor({100'000}, {3}, 0, ACL_FLOAT16), Address(4096));
  const auto b = MakeByteView(MakeTensor({50'000}, {6}, 0, ACL_FLOAT16), Address(4096 + 2));
  const auto c = MakeByteView(MakeTensor({50'000}, {7}, 0, ACL_FLOAT16), Address(4096 + 2));
  EXPECT_FALSE(ShareByte(a, b));
  EXPECT_TRUE(ShareByte(a, c));
}

}  // namespace
}  // namespace mlmargin::opapi
