// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "runtime/runtime_fixture.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // ACL_OPT_STRONG_CONSISTENCY

namespace mlmargin::runtime {
namespace {

using testing::HasSubstr;

using SysParamTest = DeviceSetTest;

aclSysParamOpt Option(int number) { return Foreign<aclSysParamOpt>(number); }

TEST_F(SysParamTest, ProcessOptionsAreZeroAtFirstAndReadBack) {
  for (int number = 0; number < 4; ++number) {
    int64_t value = -1;
    EXPECT_EQ(aclrtGetSysParamOpt(Option(number), &value), ACL_SUCCESS);
    EXPECT_EQ(value, 0);
    EXPECT_EQ(aclrtSetSysParamOpt(Option(number), 1), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetSysParamOpt(Option(number), &value), ACL_SUCCESS);
    EXPECT_EQ(value, 1);
  }
}

TEST_F(SysParamTest, ContextOptionsHaveNoDefault) {
  for (int number = 0; number < 3; ++number) {
    int64_t value = 77;
    EXPECT_EQ(aclrtCtxGetSysParamOpt(Option(number), &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    EXPECT_EQ(value, 77);
    EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtCtxSetSysParamOpt"));
    EXPECT_EQ(aclrtCtxSetSysParamOpt(Option(number), 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(Option(number), &value), ACL_SUCCESS);
    EXPECT_EQ(value, 0);
  }
}

TEST_F(SysParamTest, DeterministicTakesFourLevelsTheOthersTwo) {
  for (int64_t level : {0, 1, 2, 3}) {
    EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, level), ACL_SUCCESS);
    EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, level), ACL_SUCCESS);
    int64_t value = -1;
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
    EXPECT_EQ(value, level);
  }
  for (int64_t level : {int64_t{-1}, int64_t{4}, INT64_MAX}) {
    EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, level), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, level), ACL_ERROR_RT_PARAM_INVALID);
  }
  for (int number : {1, 2, 3}) {
    EXPECT_EQ(aclrtSetSysParamOpt(Option(number), 2), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtSetSysParamOpt(Option(number), -1), ACL_ERROR_RT_PARAM_INVALID);
  }
  int64_t value = -1;
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 3);
}

TEST_F(SysParamTest, UnknownOptionsAreRefusedAndContextsKnowThreeOnly) {
  int64_t value = 77;
  for (int number : {-1, 4, 1000}) {
    EXPECT_EQ(aclrtSetSysParamOpt(Option(number), 0), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetSysParamOpt(Option(number), &value), ACL_ERROR_INVALID_PARAM);
  }
  for (int number : {-1, 3, 4}) {
    EXPECT_EQ(aclrtCtxSetSysParamOpt(Option(number), 0), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(Option(number), &value), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(value, 77);
}

TEST_F(SysParamTest, ContextsDoNotShareTheirOptions) {
  ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  int64_t value = -1;
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value),
            ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 2);
}

TEST_F(SysParamTest, ContextOptionsNeedAContextAndProcessOptionsDoNot) {
  std::thread([] {
    int64_t value = -1;
    EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  }).join();
}

TEST_F(SysParamTest, FinalizeForgetsTheOptions) {
  ASSERT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  int64_t value = -1;
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace mlmargin::runtime
