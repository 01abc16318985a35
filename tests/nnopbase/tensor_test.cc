// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <limits>

#include "nnopbase/nnopbase_fixture.h"
#include "nnopbase/private_api.h"

namespace mlmargin::nnopbase {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

class TensorTest : public testing::Test {
 protected:
  ~TensorTest() override { TakeErrorText(); }
};

// ---- Creation ------------------------------------------------------------------------------

TEST_F(TensorTest, KeepsWhatItWasCreatedWith) {
  int data = 0;
  const TensorHolder tensor = MakeTensor({.shape = {2, 3},
                                          .dtype = ACL_INT64,
                                          .strides = Dims{1, 4},
                                          .offset = 5,
                                          .format = ACL_FORMAT_NC,
                                          .storage = Dims{6, 7},
                                          .data = &data});
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  aclDataType dtype = ACL_DT_UNDEFINED;
  void* address = nullptr;
  EXPECT_THAT(GetList(aclGetViewShape, tensor.get()), ElementsAre(2, 3));
  EXPECT_THAT(GetList(aclGetViewStrides, tensor.get()), ElementsAre(1, 4));
  EXPECT_THAT(GetList(aclGetStorageShape, tensor.get()), ElementsAre(6, 7));
  EXPECT_EQ(aclGetViewOffset(tensor.get(), &offset), ACLNN_SUCCESS);
  EXPECT_EQ(aclGetFormat(tensor.get(), &format), ACLNN_SUCCESS);
  EXPECT_EQ(aclGetDataType(tensor.get(), &dtype), ACLNN_SUCCESS);
  EXPECT_EQ(aclGetRawTensorAddr(tensor.get(), &address), ACLNN_SUCCESS);
  EXPECT_EQ(offset, 5);
  EXPECT_EQ(format, ACL_FORMAT_NC);
  EXPECT_EQ(dtype, ACL_INT64);
  EXPECT_EQ(address, &data);
}

TEST_F(TensorTest, CopiesTheCallersLists) {
  Dims shape = {2, 3};
  Dims strides = {3, 1};
  const TensorHolder tensor(aclCreateTensor(shape.data(), 2, ACL_FLOAT, strides.data(), 0,
                                            ACL_FORMAT_ND, shape.data(), 2, nullptr));
  shape.assign(2, -1);
  strides.assign(2, -1);
  EXPECT_THAT(GetList(aclGetViewShape, tensor.get()), ElementsAre(2, 3));
  EXPECT_THAT(GetList(aclGetViewStrides, tensor.get()), ElementsAre(3, 1));
}

TEST_F(TensorTest, NullStridesAreContiguous) {
  EXPECT_THAT(GetList(aclGetViewStrides, MakeTensor({.shape = {2, 3, 4}}).get()),
              ElementsAre(12, 4, 1));
  EXPECT_THAT(GetList(aclGetViewStrides, MakeTensor({.shape = {0, 5}}).get()), ElementsAre(5, 1));
}

TEST_F(TensorTest, ContiguousStridesThatOverflowAreCapped) {
  const TensorHolder tensor = MakeTensor({.shape = {2, kMax, kMax}, .storage = Dims{1}});
  EXPECT_THAT(GetList(aclGetViewStrides, tensor.get()), ElementsAre(kMax, kMax, 1));
}

TEST_F(TensorTest, ZeroCountsAreA0DTensorAndItsListsMustBeFreedToo) {
  const TensorHolder tensor(
      aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr));
  ASSERT_NE(tensor, nullptr);
  EXPECT_THAT(GetList(aclGetViewShape, tensor.get()), IsEmpty());
  EXPECT_THAT(GetList(aclGetViewStrides, tensor.get()), IsEmpty());
  EXPECT_THAT(GetList(aclGetStorageShape, tensor.get()), IsEmpty());
}

TEST_F(TensorTest, TakesWhatOnlyAnOperatorCanJudge) {
  EXPECT_NE(MakeTensor({.shape = {2}, .dtype = ACL_DT_UNDEFINED}), nullptr);
  EXPECT_NE(MakeTensor({.shape = {2}, .dtype = static_cast<aclDataType>(55)}), nullptr);
  EXPECT_NE(MakeTensor({.shape = {2}, .format = ACL_FORMAT_FRACTAL_NZ}), nullptr);
  EXPECT_NE(MakeTensor({.shape = {2}, .offset = 100}), nullptr);  // Outside its storage.
  EXPECT_NE(MakeTensor({.shape = {1, 0}, .strides = Dims{kMax, kMax}}), nullptr);
  EXPECT_NE(MakeTensor({.shape = Dims(64, 1)}), nullptr);
}

struct BadTensor {
  const char* name;
  TensorSpec spec;
  const char* argument;
};

class BadTensorTest : public testing::TestWithParam<BadTensor> {};

TEST_P(BadTensorTest, GivesNullAndNamesTheArgument) {
  EXPECT_EQ(CreateTensor(GetParam().spec), nullptr);
  EXPECT_THAT(TakeErrorText(),
              AllOf(HasSubstr("AclNN_Parameter_Error(EZ1001)"), HasSubstr("aclCreateTensor: "),
                    HasSubstr(std::string(GetParam().argument) + ": must"), HasSubstr("got")));
}

INSTANTIATE_TEST_SUITE_P(
    , BadTensorTest,
    testing::Values(
        BadTensor{"NegativeDim", {.shape = {2, -1}}, "viewDims"},
        BadTensor{"NegativeStride", {.shape = {2, 1}, .strides = Dims{1, -1}}, "stride"},
        BadTensor{"NegativeOffset", {.shape = {2}, .offset = -1}, "offset"},
        BadTensor{"NegativeStorage", {.shape = {2}, .storage = Dims{-2}}, "storageDims"},
        BadTensor{"SmallestDim", {.shape = {std::numeric_limits<int64_t>::min()}}, "viewDims"},
        BadTensor{"TooManyDims", {.shape = Dims(65, 1)}, "viewDimsNum"},
        BadTensor{"TooManyStorageDims", {.shape = {2}, .storage = Dims(65, 1)}, "storageDimsNum"}),
    [](const auto& bad) { return std::string(bad.param.name); });

TEST_F(TensorTest, NullDimsWithACountGiveNull) {
  const int64_t dim = 2;
  EXPECT_EQ(aclCreateTensor(nullptr, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, nullptr),
            nullptr);
  EXPECT_THAT(TakeErrorText(), HasSubstr("viewDims: must not be null when viewDimsNum is 1"));
  EXPECT_EQ(aclCreateTensor(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 1, nullptr),
            nullptr);
  EXPECT_THAT(TakeErrorText(), HasSubstr("storageDims: must not be null when storageDimsNum is 1"));
}

TEST_F(TensorTest, ACountThatIsGarbageIsNotUsedAsALength) {
  const int64_t dim = 2;
  EXPECT_EQ(aclCreateTensor(&dim, std::numeric_limits<uint64_t>::max(), ACL_FLOAT, nullptr, 0,
                            ACL_FORMAT_ND, &dim, 1, nullptr),
            nullptr);
}

// ---- Change --------------------------------------------------------------------------------

TEST_F(TensorTest, InitSetsEverything) {
  const TensorHolder tensor = MakeTensor({.shape = {2, 3}});
  const Dims shape = {4};
  const Dims strides = {2};
  const Dims storage = {9};
  int data = 0;
  ASSERT_EQ(aclInitTensor(tensor.get(), shape.data(), 1, ACL_BF16, strides.data(), 1,
                          ACL_FORMAT_NCHW, storage.data(), 1, &data),
            ACLNN_SUCCESS);
  void* address = nullptr;
  aclDataType dtype = ACL_FLOAT;
  EXPECT_EQ(aclGetRawTensorAddr(tensor.get(), &address), ACLNN_SUCCESS);
  EXPECT_EQ(aclGetDataType(tensor.get(), &dtype), ACLNN_SUCCESS);
  EXPECT_EQ(address, &data);
  EXPECT_EQ(dtype, ACL_BF16);
  EXPECT_THAT(GetList(aclGetViewShape, tensor.get()), ElementsAre(4));
  EXPECT_THAT(GetList(aclGetViewStrides, tensor.get()), ElementsAre(2));
  EXPECT_THAT(GetList(aclGetStorageShape, tensor.get()), ElementsAre(9));
}

TEST_F(TensorTest, InitKeepsTheOldValueForZeroCountsAndNullData) {
  int data = 0;
  const TensorHolder tensor =
      MakeTensor({.shape = {2, 3}, .strides = Dims{1, 2}, .storage = Dims{6}, .data = &data});
  ASSERT_EQ(aclInitTensor(tensor.get(), nullptr, 0, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, nullptr,
                          0, nullptr),
            ACLNN_SUCCESS);
  void* address = nullptr;
  aclDataType dtype = ACL_FLOAT;
  EXPECT_EQ(aclGetRawTensorAddr(tensor.get(), &address), ACLNN_SUCCESS);
  EXPECT_EQ(aclGetDataType(tensor.get(), &dtype), ACLNN_SUCCESS);
  EXPECT_EQ(address, &data);
  EXPECT_EQ(dtype, ACL_INT32);
  EXPECT_THAT(GetList(aclGetViewShape, tensor.get()), ElementsAre(2, 3));
  EXPECT_THAT(GetList(aclGetViewStrides, tensor.get()), ElementsAre(1, 2));
  EXPECT_THAT(GetList(aclGetStorageShape, tensor.get()), ElementsAre(6));
}

TEST_F(TensorTest, InitThatFailsChangesNothing) {
  const TensorHolder tensor = MakeTensor({.shape = {2}});
  const Dims shape = {4};
  const Dims negative = {-4};
  const auto init = [&](aclTensor* handle, const int64_t* dims, const int64_t* storage) {
    return aclInitTensor(handle, dims, 1, ACL_BF16, nullptr, 0, ACL_FORMAT_NC, storage, 1, nullptr);
  };
  EXPECT_EQ(init(nullptr, shape.data(), shape.data()), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(init(ForeignHandle<aclTensor>(), shape.data(), shape.data()), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(init(tensor.get(), nullptr, shape.data()), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(init(tensor.get(), shape.data(), negative.data()), ACLNN_ERR_PARAM_INVALID);
  aclDataType dtype = ACL_DT_UNDEFINED;
  EXPECT_EQ(aclGetDataType(tensor.get(), &dtype), ACLNN_SUCCESS);
  EXPECT_EQ(dtype, ACL_FLOAT);
  EXPECT_THAT(GetList(aclGetViewShape, tensor.get()), ElementsAre(2));
}

TEST_F(TensorTest, RawAddressCanBeSetAndTakenAway) {
  const TensorHolder tensor = MakeTensor({.shape = {2}});
  int data = 0;
  void* address = nullptr;
  EXPECT_EQ(aclSetRawTensorAddr(tensor.get(), &data), ACLNN_SUCCESS);
  EXPECT_EQ(aclGetRawTensorAddr(tensor.get(), &address), ACLNN_SUCCESS);
  EXPECT_EQ(address, &data);
  EXPECT_EQ(aclSetRawTensorAddr(tensor.get(), nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclGetRawTensorAddr(tensor.get(), &address), ACLNN_SUCCESS);
  EXPECT_EQ(address, nullptr);
}

// What an executor saw in phase 1 does not change with the tensor.
TEST_F(TensorTest, ATensorThatWasFoundStaysAsItWas) {
  TensorHolder tensor = MakeTensor({.shape = {2}});
  std::shared_ptr<const Tensor> found;
  ASSERT_TRUE(FindTensor(tensor.get(), "self", &found).ok());
  int data = 0;
  EXPECT_EQ(aclSetRawTensorAddr(tensor.get(), &data), ACLNN_SUCCESS);
  tensor.reset();
  EXPECT_EQ(found->data, nullptr);
  EXPECT_THAT(found->view_shape, ElementsAre(2));
}

// ---- Misuse --------------------------------------------------------------------------------

TEST_F(TensorTest, DestroyingNullIsFineAndDestroyingTwiceIsNot) {
  aclTensor* const tensor = CreateTensor({.shape = {2}});
  EXPECT_EQ(aclDestroyTensor(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("tensor: must be a live tensor, got 0x"));
}

TEST_F(TensorTest, AHandleOfAnotherKindOrAStrayPointerIsRefused) {
  const int64_t value = 1;
  aclIntArray* const array = aclCreateIntArray(&value, 1);
  int stray = 0;
  EXPECT_EQ(aclDestroyTensor(reinterpret_cast<aclTensor*>(array)), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensor(reinterpret_cast<aclTensor*>(&stray)), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensor(ForeignHandle<aclTensor>()), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyIntArray(array), ACLNN_SUCCESS);
}

TEST_F(TensorTest, GettersWriteNothingOnFailure) {
  aclTensor* const dead = CreateTensor({.shape = {2}});
  aclDestroyTensor(dead);
  for (const auto getter : {aclGetViewShape, aclGetStorageShape, aclGetViewStrides}) {
    int64_t untouched = 0;
    int64_t* values = &untouched;
    uint64_t count = 77;
    EXPECT_EQ(getter(nullptr, &values, &count), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(getter(dead, &values, &count), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(values, &untouched);
    EXPECT_EQ(count, 77U);
  }
  int64_t offset = 77;
  EXPECT_EQ(aclGetViewOffset(dead, &offset), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclGetViewOffset(nullptr, &offset), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(offset, 77);
}

TEST_F(TensorTest, GettersRefuseANullTarget) {
  const TensorHolder tensor = MakeTensor({.shape = {2}});
  for (const auto getter : {aclGetViewShape, aclGetStorageShape, aclGetViewStrides}) {
    int64_t* values = nullptr;
    uint64_t count = 77;
    EXPECT_EQ(getter(tensor.get(), nullptr, &count), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(getter(tensor.get(), &values, nullptr), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(values, nullptr);
    EXPECT_EQ(count, 77U);
  }
  EXPECT_EQ(aclGetViewOffset(tensor.get(), nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetFormat(tensor.get(), nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetDataType(tensor.get(), nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetRawTensorAddr(tensor.get(), nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclSetRawTensorAddr(nullptr, nullptr), ACLNN_ERR_PARAM_NULLPTR);
}

// ---- Names in messages ---------------------------------------------------------------------

TEST(NamesTest, ShapesReadAsTuples) {
  EXPECT_EQ(ShapeText(Dims{}), "()");
  EXPECT_EQ(ShapeText(Dims{3}), "(3)");
  EXPECT_EQ(ShapeText(Dims{3, 4}), "(3, 4)");
}

TEST(NamesTest, DataTypesHaveNamesAndUnknownOnesNumbers) {
  EXPECT_EQ(DataTypeText(ACL_FLOAT16), "FLOAT16");
  EXPECT_EQ(DataTypeText(ACL_BF16), "BF16");
  EXPECT_EQ(DataTypeText(ACL_DT_UNDEFINED), "UNDEFINED");
  EXPECT_EQ(DataTypeText(ACL_FLOAT4_E1M2), "FLOAT4_E1M2");
  EXPECT_EQ(DataTypeText(static_cast<aclDataType>(55)), "aclDataType(55)");
}

}  // namespace
}  // namespace mlmargin::nnopbase
