// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "runtime/runtime_fixture.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // aclGetDataBufferSize

namespace mlmargin::runtime {
namespace {

using testing::HasSubstr;

using DataBufferTest = InitializedTest;

TEST_F(DataBufferTest, DescribesWhatItWasGiven) {
  char data[10];
  aclDataBuffer* const buffer = aclCreateDataBuffer(data, sizeof(data));
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), data);
  EXPECT_EQ(aclGetDataBufferSize(buffer), 10U);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 10U);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
}

TEST_F(DataBufferTest, NullDataGoesWithSizeZeroOnly) {
  aclDataBuffer* const buffer = aclCreateDataBuffer(nullptr, 0);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
  EXPECT_EQ(aclCreateDataBuffer(nullptr, 1), nullptr);
  EXPECT_THAT(TakeErrorText(), HasSubstr("size is 1"));
}

TEST_F(DataBufferTest, UpdateReplacesBothOrNothing) {
  char first[10];
  char second[20];
  aclDataBuffer* const buffer = aclCreateDataBuffer(first, sizeof(first));
  EXPECT_EQ(aclUpdateDataBuffer(buffer, second, sizeof(second)), ACL_SUCCESS);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), second);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 20U);
  EXPECT_EQ(aclUpdateDataBuffer(buffer, nullptr, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), second);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
}

TEST_F(DataBufferTest, TheOldSizeCallGivesTheLow32Bits) {
  char data[1];
  aclDataBuffer* const buffer = aclCreateDataBuffer(data, (size_t{1} << 32) + 5);
  EXPECT_EQ(aclGetDataBufferSize(buffer), 5U);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), (size_t{1} << 32) + 5);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
}

TEST_F(DataBufferTest, NullStaleAndForeignBuffersAreErrors) {
  char data[1];
  aclDataBuffer* const stale = aclCreateDataBuffer(data, 1);
  EXPECT_EQ(aclDestroyDataBuffer(stale), ACL_SUCCESS);
  for (aclDataBuffer* bad :
       {static_cast<aclDataBuffer*>(nullptr), stale, reinterpret_cast<aclDataBuffer*>(data)}) {
    EXPECT_EQ(aclDestroyDataBuffer(bad), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclUpdateDataBuffer(bad, data, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclGetDataBufferAddr(bad), nullptr);
    EXPECT_EQ(aclGetDataBufferSize(bad), 0U);
    EXPECT_EQ(aclGetDataBufferSizeV2(bad), 0U);
  }
}

TEST_F(DataBufferTest, ThreadsMayReadWhileOneUpdates) {
  char data[2];
  aclDataBuffer* const buffer = aclCreateDataBuffer(data, 1);
  std::vector<std::thread> readers;
  for (int t = 0; t < 4; ++t) {
    readers.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) ASSERT_NE(aclGetDataBufferAddr(buffer), nullptr);
    });
  }
  for (int i = 0; i < 2000; ++i) aclUpdateDataBuffer(buffer, &data[i % 2], 1);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
}

TEST_F(DataBufferTest, MakingAndDestroyingDoesNotGrowMemory) {
  char data[1];
  const auto calls = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(aclDestroyDataBuffer(aclCreateDataBuffer(data, 1)), ACL_SUCCESS);
      if (i % 8 == 0) {
        ASSERT_EQ(aclCreateDataBuffer(nullptr, 1), nullptr);
      }
    }
  };
  calls(2000);
  const size_t before = ResidentBytes();
  calls(100000);
  EXPECT_LT(ResidentBytes(), before + kGrowthNoiseBytes);
}

}  // namespace
}  // namespace mlmargin::runtime
