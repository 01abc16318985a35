// SPDX-License-Identifier: Apache-2.0
// CheckView and ViewRange against walking through all elements of a view.
#include <gtest/gtest.h>
// Needs the one above.
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "acl/acl_base.h"
#include "nnopbase/nnopbase_fixture.h"
#include "nnopbase/private_api.h"

namespace mlmargin::nnopbase {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// The indexes of all elements of the view, in its storage.
std::vector<int64_t> Indexes(const Tensor& tensor) {
  std::vector<int64_t> indexes = {tensor.offset};
  for (size_t d = 0; d < tensor.view_shape.size(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t index : indexes) {
      for (int64_t i = 0; i < tensor.view_shape[d]; ++i) {
        next.push_back(index + i * tensor.strides[d]);
      }
    }
    indexes = next;
  }
  return indexes;
}

Tensor View(Dims shape, Dims strides, int64_t offset, Dims storage, aclDataType dtype = ACL_FLOAT) {
  Tensor tensor;
  tensor.view_shape = std::move(shape);
  tensor.strides = std::move(strides);
  tensor.offset = offset;
  tensor.storage_shape = std::move(storage);
  tensor.dtype = dtype;
  return tensor;
}

Tensor ArbitraryView() {
  const auto rank = *rc::gen::inRange<size_t>(0, 4);
  const auto list = [](size_t size, int64_t end) {
    return *rc::gen::container<Dims>(size, rc::gen::inRange<int64_t>(0, end));
  };
  return View(list(rank, 4), list(rank, 6), *rc::gen::inRange<int64_t>(0, 6),
              list(*rc::gen::inRange<size_t>(0, 3), 7),
              *rc::gen::element(ACL_FLOAT16, ACL_FLOAT, ACL_INT64));
}

RC_GTEST_PROP(ViewTest, IsInsideItsStorageExactlyWhenAllElementsAre, ()) {
  const Tensor view = ArbitraryView();
  int64_t storage_elements = 1;
  for (const int64_t dim : view.storage_shape) storage_elements *= dim;
  const std::vector<int64_t> indexes = Indexes(view);
  const bool inside = std::all_of(indexes.begin(), indexes.end(),
                                  [&](int64_t index) { return index < storage_elements; });
  RC_ASSERT(CheckView(view, "self").ok() == inside);
}

RC_GTEST_PROP(ViewTest, RangeSpansTheFirstToTheLastElement, ()) {
  const Tensor view = ArbitraryView();
  const std::vector<int64_t> indexes = Indexes(view);
  const ByteRange range = ViewRange(view);
  const uint64_t bytes = aclDataTypeSize(view.dtype);
  if (indexes.empty()) {
    RC_ASSERT(range.bytes == 0U);
    return;
  }
  const auto [first, last] = std::minmax_element(indexes.begin(), indexes.end());
  RC_ASSERT(range.begin == static_cast<uint64_t>(*first) * bytes);
  RC_ASSERT(range.bytes == static_cast<uint64_t>(*last - *first + 1) * bytes);
}

// Whatever fits is inside, whatever does not is refused, and no arithmetic overflows on the way.
RC_GTEST_PROP(ViewTest, HugeNumbersNeverPassAsSmallOnes, ()) {
  const auto huge =
      rc::gen::oneOf(rc::gen::inRange<int64_t>(0, 3),
                     rc::gen::inRange<int64_t>(int64_t{1} << 30, kMax), rc::gen::just(kMax));
  const auto rank = *rc::gen::inRange<size_t>(0, 4);
  const Tensor view = View(*rc::gen::container<Dims>(rank, huge),
                           *rc::gen::container<Dims>(rank, huge), *huge, {1000});
  __extension__ using Wide = __int128;
  Wide last = view.offset;
  bool empty = false;
  for (size_t d = 0; d < rank; ++d) {
    empty = empty || view.view_shape[d] == 0;
    // Stopping at the end of the storage keeps the wide numbers from overflowing.
    if (last < 1000 && view.view_shape[d] > 1) {
      last += Wide{view.view_shape[d] - 1} * view.strides[d];
    }
  }
  RC_ASSERT(CheckView(view, "self").ok() == (empty || last < 1000));
}

TEST(ViewTest, StridesOfDimensionsThatAreNotSteppedDoNotMatter) {
  EXPECT_TRUE(CheckView(View({1, 3}, {kMax, 1}, 0, {3}), "self").ok());
  EXPECT_TRUE(CheckView(View({1, 1}, {kMax, kMax}, 2, {3}), "self").ok());
  EXPECT_TRUE(CheckView(View({5, 0}, {kMax, kMax}, kMax, {0}), "self").ok());
  EXPECT_EQ(ViewRange(View({1, 3}, {kMax, 1}, 0, {3})).bytes, 12U);
}

TEST(ViewTest, AnEmptyViewNeedsNoStorageAndA0DViewOneElement) {
  EXPECT_TRUE(CheckView(View({0, 3}, {3, 1}, 9, {0}), "self").ok());
  EXPECT_TRUE(CheckView(View({}, {}, 0, {}), "self").ok());
  EXPECT_FALSE(CheckView(View({}, {}, 1, {}), "self").ok());
  EXPECT_FALSE(CheckView(View({}, {}, 0, {0}), "self").ok());
}

TEST(ViewTest, MessageNamesShapeStridesOffsetAndStorage) {
  const Status status = CheckView(View({2, 3}, {3, 1}, 1, {2, 3}), "target");
  EXPECT_EQ(status.code(), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("target: "), HasSubstr("storage (2, 3) of 6 elements"),
                                   HasSubstr("shape (2, 3) with strides (3, 1) and offset 1"),
                                   HasSubstr("index 6")));
}

TEST(ViewTest, AnExtentBeyond64BitsIsRefused) {
  const Dims storage = {kMax, kMax};  // Its size is not representable either.
  for (const Tensor& view :
       {View({kMax, kMax}, {kMax, 1}, 0, storage), View({2}, {1}, kMax, storage),
        View({2}, {kMax}, 1, storage), View({kMax}, {1}, 0, storage),
        View({(kMax / 8) + 1}, {1}, 0, storage, ACL_INT64)}) {
    const Status status = CheckView(view, "self");
    EXPECT_EQ(status.code(), ACLNN_ERR_PARAM_INVALID);
    EXPECT_THAT(status.text(), HasSubstr("2^63 - 1 bytes"));
  }
  EXPECT_TRUE(CheckView(View({kMax / 8}, {1}, 0, storage, ACL_INT64), "self").ok());
}

}  // namespace
}  // namespace mlmargin::nnopbase
