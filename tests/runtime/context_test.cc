// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "mlmargin/device.h"
#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {
namespace {

using testing::HasSubstr;

class ContextTest : public InitializedTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(mlmargin::SetDeviceCount(2));
    InitializedTest::SetUp();
  }
  void TearDown() override {
    InitializedTest::TearDown();
    static_cast<void>(mlmargin::SetDeviceCount(1));
  }

  static aclrtContext Create(int32_t device) {
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtCreateContext(&context, device), ACL_SUCCESS);
    EXPECT_NE(context, nullptr);
    return context;
  }
  static aclrtContext Current() {
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
    return context;
  }
  static aclrtStream DefaultStream() {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
    return stream;
  }
  static int32_t Device() {
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    return device;
  }
};

TEST_F(ContextTest, NoCurrentContextSaysSo) {
  aclrtContext context = this;
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(context, this);
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtSetDevice"));
  aclrtStream stream = this;
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(stream, this);
}

TEST_F(ContextTest, ANewContextIsCurrentWithItsDevice) {
  const aclrtContext context = Create(1);
  EXPECT_EQ(Current(), context);
  EXPECT_EQ(Device(), 1);
}

TEST_F(ContextTest, EveryContextHasADefaultStreamOfItsOwn) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtStream primary = DefaultStream();
  EXPECT_NE(primary, nullptr);
  EXPECT_EQ(DefaultStream(), primary);
  Create(0);
  const aclrtStream first = DefaultStream();
  Create(0);
  const aclrtStream second = DefaultStream();
  EXPECT_NE(primary, first);
  EXPECT_NE(primary, second);
  EXPECT_NE(first, second);
}

TEST_F(ContextTest, SettingAContextSwitchesTheDevice) {
  const aclrtContext first = Create(0);
  const aclrtContext second = Create(1);
  EXPECT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
  EXPECT_EQ(Device(), 0);
  EXPECT_EQ(Current(), first);
  EXPECT_EQ(aclrtSetCurrentContext(second), ACL_SUCCESS);
  EXPECT_EQ(Device(), 1);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_NE(Current(), first);
  EXPECT_NE(Current(), second);
}

TEST_F(ContextTest, ContextsMayBeSharedBetweenThreads) {
  const aclrtContext context = Create(0);
  std::thread([&] {
    aclrtContext none = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&none), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    EXPECT_EQ(Current(), context);
  }).join();
}

TEST_F(ContextTest, TheFirstContextSetsTheDeviceUp) {
  int32_t active = -1;
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, &active), ACL_SUCCESS);
  EXPECT_EQ(active, 0);
  const aclrtContext context = Create(0);
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, &active), ACL_SUCCESS);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

TEST_F(ContextTest, DestroyingTheCurrentContextLeavesNone) {
  const aclrtContext context = Create(0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(ContextTest, DestroyingAnotherContextKeepsTheCurrentOne) {
  const aclrtContext first = Create(0);
  const aclrtContext second = Create(0);
  EXPECT_EQ(aclrtDestroyContext(first), ACL_SUCCESS);
  EXPECT_EQ(Current(), second);
}

TEST_F(ContextTest, AContextDestroyedByAnotherThreadIsStaleNotDangling) {
  const aclrtContext context = Create(0);
  std::thread([&] { EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS); }).join();
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_THAT(TakeErrorText(), HasSubstr("destroyed"));
}

TEST_F(ContextTest, TwoDestroysOfOneContextAreAnError) {
  const aclrtContext context = Create(0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_THAT(TakeErrorText(), HasSubstr("destroyed"));
}

TEST_F(ContextTest, TheDefaultContextCannotBeDestroyed) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(Current()), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtResetDevice"));
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(ContextTest, AContextOfAResetDeviceCannotBecomeCurrentButBeDestroyed) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtContext context = Create(0);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_THAT(TakeErrorText(), HasSubstr("reset"));
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(ContextTest, ContextsOfAnEarlierInitAreUnknown) {
  const aclrtContext context = Create(0);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(ContextTest, ForeignHandlesAreErrors) {
  int local = 0;
  for (void* foreign : {static_cast<void*>(&local), reinterpret_cast<void*>(1),
                        reinterpret_cast<void*>(UINTPTR_MAX)}) {
    EXPECT_EQ(aclrtSetCurrentContext(foreign), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtDestroyContext(foreign), ACL_ERROR_RT_INVALID_HANDLE);
  }
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(DefaultStream()), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(ContextTest, NullPointersAndBadDevicesAreRefused) {
  EXPECT_EQ(aclrtCreateContext(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(nullptr), ACL_ERROR_INVALID_PARAM);
  aclrtContext context = this;
  EXPECT_EQ(aclrtCreateContext(&context, 2), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtCreateContext(&context, -1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(context, this);
}

TEST_F(ContextTest, ManyThreadsMayMakeAndDestroyContexts) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        const aclrtContext context = Create(t % 2);
        EXPECT_EQ(Current(), context);
        EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ContextTest, OfTwoRacingDestroysOneSucceeds) {
  for (int i = 0; i < 100; ++i) {
    const aclrtContext context = Create(0);
    aclError other = -1;
    std::thread thread([&] { other = aclrtDestroyContext(context); });
    const aclError mine = aclrtDestroyContext(context);
    thread.join();
    EXPECT_TRUE((mine == ACL_SUCCESS) != (other == ACL_SUCCESS));
  }
}

TEST_F(ContextTest, MakingAndDestroyingContextsDoesNotGrowMemory) {
  const auto calls = [](int count) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(aclrtDestroyContext(Create(0)), ACL_SUCCESS);
  };
  calls(500);
  const size_t before = ResidentBytes();
  calls(10000);
  EXPECT_LT(ResidentBytes(), before + kGrowthNoiseBytes);
}

}  // namespace
}  // namespace mlmargin::runtime
