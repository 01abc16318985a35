// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <limits>

#include "nnopbase/nnopbase_fixture.h"

namespace mlmargin::nnopbase {
namespace {

using testing::HasSubstr;

constexpr uint64_t kHugeSize = std::numeric_limits<uint64_t>::max();

// The four functions of one kind of array.
template <typename Array, typename Value>
struct ArrayApi {
  using Handle = Array;
  using Element = Value;
  Array* (*create)(const Value*, uint64_t);
  aclnnStatus (*destroy)(const Array*);
  aclnnStatus (*get_size)(const Array*, uint64_t*);
};

struct IntArrays : ArrayApi<aclIntArray, int64_t> {
  IntArrays() : ArrayApi{aclCreateIntArray, aclDestroyIntArray, aclGetIntArraySize} {}
};
struct FloatArrays : ArrayApi<aclFloatArray, float> {
  FloatArrays() : ArrayApi{aclCreateFloatArray, aclDestroyFloatArray, aclGetFloatArraySize} {}
};
struct BoolArrays : ArrayApi<aclBoolArray, bool> {
  BoolArrays() : ArrayApi{aclCreateBoolArray, aclDestroyBoolArray, aclGetBoolArraySize} {}
};

template <typename Api>
class ValueArrayTest : public testing::Test {
 protected:
  ~ValueArrayTest() override { TakeErrorText(); }
  Api api_;
};
using AllArrays = testing::Types<IntArrays, FloatArrays, BoolArrays>;
TYPED_TEST_SUITE(ValueArrayTest, AllArrays);

TYPED_TEST(ValueArrayTest, KnowsItsSize) {
  const std::array<typename TypeParam::Element, 3> values = {1, 0, 1};
  auto* const array = this->api_.create(values.data(), values.size());
  ASSERT_NE(array, nullptr);
  uint64_t size = 0;
  EXPECT_EQ(this->api_.get_size(array, &size), ACLNN_SUCCESS);
  EXPECT_EQ(size, 3U);
  EXPECT_EQ(this->api_.destroy(array), ACLNN_SUCCESS);
}

TYPED_TEST(ValueArrayTest, MayBeEmpty) {
  auto* const array = this->api_.create(nullptr, 0);
  ASSERT_NE(array, nullptr);
  uint64_t size = 77;
  EXPECT_EQ(this->api_.get_size(array, &size), ACLNN_SUCCESS);
  EXPECT_EQ(size, 0U);
  EXPECT_EQ(this->api_.destroy(array), ACLNN_SUCCESS);
}

TYPED_TEST(ValueArrayTest, CannotBeMadeFromNullOrOfAGarbageSize) {
  const typename TypeParam::Element value{};
  EXPECT_EQ(this->api_.create(nullptr, 1), nullptr);
  EXPECT_THAT(TakeErrorText(), HasSubstr("value: must not be null"));
  EXPECT_EQ(this->api_.create(&value, kHugeSize), nullptr);
  EXPECT_THAT(TakeErrorText(), HasSubstr("size: must be at most"));
}

TYPED_TEST(ValueArrayTest, RefusesDeadForeignAndNullHandles) {
  const typename TypeParam::Element value{};
  auto* const array = this->api_.create(&value, 1);
  uint64_t size = 77;
  EXPECT_EQ(this->api_.get_size(array, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(this->api_.get_size(nullptr, &size), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(this->api_.destroy(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(this->api_.destroy(array), ACLNN_SUCCESS);
  EXPECT_EQ(this->api_.destroy(array), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(this->api_.get_size(array, &size), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(this->api_.destroy(ForeignHandle<typename TypeParam::Handle>()),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(size, 77U);
}

class ScalarTest : public testing::Test {
 protected:
  ~ScalarTest() override { TakeErrorText(); }
};

TEST_F(ScalarTest, ReadsNoMoreThanItsTypeHas) {
  // Under the address sanitizer a byte too many would be seen.
  const std::pair<aclDataType, size_t> sizes[] = {
      {ACL_BOOL, 1},        {ACL_FLOAT16, 2},     {ACL_FLOAT, 4},      {ACL_INT64, 8},
      {ACL_COMPLEX128, 16}, {ACL_FLOAT4_E2M1, 1}, {ACL_FLOAT6_E3M2, 1}};
  for (const auto& [dtype, bytes] : sizes) {
    const std::unique_ptr<char[]> value = std::make_unique<char[]>(bytes);
    aclScalar* const scalar = aclCreateScalar(value.get(), dtype);
    EXPECT_NE(scalar, nullptr) << dtype;
    EXPECT_EQ(aclDestroyScalar(scalar), ACLNN_SUCCESS);
  }
}

TEST_F(ScalarTest, NeedsAValueOfATypeThatHasValues) {
  double value = 0;
  EXPECT_EQ(aclCreateScalar(nullptr, ACL_FLOAT), nullptr);
  EXPECT_THAT(TakeErrorText(), HasSubstr("value: must not be null"));
  for (const auto dtype : {ACL_DT_UNDEFINED, ACL_STRING, static_cast<aclDataType>(55)}) {
    EXPECT_EQ(aclCreateScalar(&value, dtype), nullptr);
    EXPECT_THAT(TakeErrorText(), HasSubstr("dataType: must be"));
  }
}

TEST_F(ScalarTest, DestroyingNullIsFineAndDestroyingTwiceIsNot) {
  double value = 0;
  aclScalar* const scalar = aclCreateScalar(&value, ACL_DOUBLE);
  EXPECT_EQ(aclDestroyScalar(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(scalar), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(scalar), ACLNN_ERR_PARAM_INVALID);
}

}  // namespace
}  // namespace mlmargin::nnopbase
