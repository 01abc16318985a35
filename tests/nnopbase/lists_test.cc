// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <limits>

#include "nnopbase/nnopbase_fixture.h"

namespace mlmargin::nnopbase {
namespace {

using testing::HasSubstr;

class ListsTest : public testing::Test {
 protected:
  ~ListsTest() override { TakeErrorText(); }

  static aclScalar* CreateScalar() {
    float value = 1;
    return aclCreateScalar(&value, ACL_FLOAT);
  }
};

TEST_F(ListsTest, DestroyATensorListWithItsTensors) {
  const std::array<aclTensor*, 2> tensors = {CreateTensor({.shape = {1}}),
                                             CreateTensor({.shape = {2}})};
  aclTensorList* const list = aclCreateTensorList(tensors.data(), tensors.size());
  ASSERT_NE(list, nullptr);
  uint64_t size = 0;
  EXPECT_EQ(aclGetTensorListSize(list, &size), ACLNN_SUCCESS);
  EXPECT_EQ(size, 2U);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_SUCCESS);
  for (const aclTensor* tensor : tensors) {
    EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID);
  }
}

TEST_F(ListsTest, DestroyAScalarListWithItsScalars) {
  const std::array<aclScalar*, 2> scalars = {CreateScalar(), CreateScalar()};
  aclScalarList* const list = aclCreateScalarList(scalars.data(), scalars.size());
  ASSERT_NE(list, nullptr);
  uint64_t size = 0;
  EXPECT_EQ(aclGetScalarListSize(list, &size), ACLNN_SUCCESS);
  EXPECT_EQ(size, 2U);
  EXPECT_EQ(aclDestroyScalarList(list), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(scalars[0]), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(ListsTest, MayBeEmpty) {
  aclTensorList* const tensors = aclCreateTensorList(nullptr, 0);
  aclScalarList* const scalars = aclCreateScalarList(nullptr, 0);
  EXPECT_NE(tensors, nullptr);
  EXPECT_NE(scalars, nullptr);
  EXPECT_EQ(aclDestroyTensorList(tensors), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalarList(scalars), ACLNN_SUCCESS);
}

TEST_F(ListsTest, CannotHoldWhatIsNotLive) {
  aclTensor* const live = CreateTensor({.shape = {1}});
  const std::array<aclTensor*, 2> stale = {live, ForeignHandle<aclTensor>()};
  const std::array<aclTensor*, 1> null = {nullptr};
  EXPECT_EQ(aclCreateTensorList(stale.data(), 2), nullptr);
  EXPECT_THAT(TakeErrorText(), HasSubstr("value[1]: must be a live tensor"));
  EXPECT_EQ(aclCreateTensorList(null.data(), 1), nullptr);
  EXPECT_EQ(aclCreateTensorList(nullptr, 1), nullptr);
  EXPECT_EQ(aclCreateTensorList(null.data(), std::numeric_limits<uint64_t>::max()), nullptr);
  EXPECT_EQ(aclDestroyTensor(live), ACLNN_SUCCESS);  // A list that failed took nothing over.
}

TEST_F(ListsTest, NameTheFirstMemberThatWasDestroyedBeforeAndDestroyTheOthers) {
  const std::array<aclTensor*, 4> tensors = {
      CreateTensor({.shape = {1}}), CreateTensor({.shape = {2}}), CreateTensor({.shape = {3}}),
      CreateTensor({.shape = {4}})};
  aclTensorList* const list = aclCreateTensorList(tensors.data(), tensors.size());
  EXPECT_EQ(aclDestroyTensor(tensors[1]), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(tensors[2]), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("tensor number 1 was destroyed before"));
  EXPECT_EQ(aclDestroyTensor(tensors[3]), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(ListsTest, RefuseDeadForeignAndNullHandles) {
  aclTensorList* const list = aclCreateTensorList(nullptr, 0);
  uint64_t size = 77;
  EXPECT_EQ(aclDestroyTensorList(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalarList(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclGetTensorListSize(nullptr, &size), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetScalarListSize(nullptr, &size), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetTensorListSize(list, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetScalarListSize(reinterpret_cast<aclScalarList*>(list), &size),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_SUCCESS);
  EXPECT_EQ(aclGetTensorListSize(list, &size), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(size, 77U);
}

}  // namespace
}  // namespace mlmargin::nnopbase
