// SPDX-License-Identifier: Apache-2.0
#include "mlmargin/device.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {
namespace {

using testing::HasSubstr;

// Initialised, with four devices.
class DeviceTest : public InitializedTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(mlmargin::SetDeviceCount(4));
    InitializedTest::SetUp();
  }
  void TearDown() override {
    InitializedTest::TearDown();
    static_cast<void>(mlmargin::SetDeviceCount(1));
  }

  static bool IsActive(int32_t device) {
    int32_t active = -1;
    EXPECT_EQ(aclrtGetPrimaryCtxState(device, nullptr, &active), ACL_SUCCESS);
    return active == 1;
  }
};

// The environment is read by a process of its own.
class DeviceSettingsDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }

  // Exits with the device count that the environment gives.
  [[noreturn]] static void ExitWithCount() {
    aclInit(nullptr);
    uint32_t count = 99;
    aclrtGetDeviceCount(&count);
    std::_Exit(static_cast<int>(count));
  }
  static void ShowLog() { setenv("ASCEND_GLOBAL_LOG_LEVEL", "2", 1); }
};

TEST_F(DeviceTest, NoDeviceSetIsAnErrorThatSaysSo) {
  int32_t device = 99;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(device, 99);
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtSetDevice"));
}

TEST_F(DeviceTest, SetDeviceMakesItCurrentAndTheLastCallWins) {
  int32_t device = 99;
  EXPECT_EQ(aclrtSetDevice(2), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 2);
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_TRUE(IsActive(2));
}

TEST_F(DeviceTest, IdsOutsideTheCountAreRefusedAndChangeNothing) {
  ASSERT_EQ(aclrtSetDevice(3), ACL_SUCCESS);
  for (int32_t bad : {-1, 4, 64, 99, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(aclrtSetDevice(bad), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtResetDevice(bad), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtResetDeviceForce(bad), ACL_ERROR_RT_INVALID_DEVICEID);
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
    EXPECT_EQ(aclrtQueryDeviceStatus(bad, &status), ACL_ERROR_RT_INVALID_DEVICEID);
    int32_t active = 7;
    EXPECT_EQ(aclrtGetPrimaryCtxState(bad, nullptr, &active), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(active, 7);
  }
  EXPECT_THAT(TakeErrorText(), HasSubstr("expected 0 to 3"));
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 3);
}

TEST_F(DeviceTest, ResetsAreCountedAndTheLastOneReleases) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_TRUE(IsActive(0));
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_FALSE(IsActive(0));
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_THAT(TakeErrorText(), HasSubstr("reset"));
}

TEST_F(DeviceTest, ResetAfterTheReleaseIsAnError) {
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtSetDevice"));
}

TEST_F(DeviceTest, ForcedResetReleasesWhateverTheCount) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  EXPECT_FALSE(IsActive(0));
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

TEST_F(DeviceTest, ADeviceCanBeSetAgainAfterItsReset) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  aclrtContext first = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  aclrtContext second = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&second), ACL_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_NE(aclrtSetCurrentContext(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
}

TEST_F(DeviceTest, ResetOfOneDeviceLeavesTheOthersAlone) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  void* pointer = nullptr;
  ASSERT_EQ(aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
}

TEST_F(DeviceTest, TheReleaseTakesTheDevicesMemory) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* pointer = nullptr;
  ASSERT_EQ(aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(pointer), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(DeviceTest, PinnedMemoryOutlivesTheDeviceUntilItIsFreed) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* pointer = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pointer, 64), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  std::memset(pointer, 1, 64);
  EXPECT_EQ(aclrtFreeHost(pointer), ACL_SUCCESS);
}

TEST_F(DeviceTest, ThreadsThatSetOneDeviceShareItsContext) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext mine = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&mine), ACL_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);  // Nothing is inherited.
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext its = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&its), ACL_SUCCESS);
    EXPECT_EQ(its, mine);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  }).join();
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(DeviceTest, AnotherThreadsResetMakesMyContextStaleNotDangling) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  std::thread([] { EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS); }).join();
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  void* pointer = nullptr;
  EXPECT_EQ(aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(DeviceTest, ManyThreadsMaySetAndReset) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 300; ++i) {
        const int32_t device = (t + i) % 4;
        EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
        aclrtSynchronizeDevice();
        EXPECT_EQ(aclrtResetDevice(device), ACL_SUCCESS);
      }
      TakeErrorText();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int32_t device = 0; device < 4; ++device) EXPECT_FALSE(IsActive(device));
}

TEST_F(DeviceTest, SynchronizeDeviceChecksItsTimeout) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  for (int32_t timeout : {-1, 0, 1, 1000}) {
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(timeout), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(-2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("-2"));
}

TEST_F(DeviceTest, RunModeIsHost) {
  aclrtRunMode mode = ACL_DEVICE;
  EXPECT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS);
  EXPECT_EQ(mode, ACL_HOST);
}

TEST_F(DeviceTest, StatusIsNormal) {
  aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_ABNORMAL;
  EXPECT_EQ(aclrtQueryDeviceStatus(3, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_NORMAL);
}

TEST_F(DeviceTest, SocNameIsThere) { EXPECT_STREQ(aclrtGetSocName(), "mlmargin-cpu"); }

TEST_F(DeviceTest, DeviceInfoTellsWhatACpuHasAndZeroForTheRest) {
  int64_t value = -1;
  for (aclrtDevAttr attr : {ACL_DEV_ATTR_AICPU_CORE_NUM, ACL_DEV_ATTR_AICORE_CORE_NUM,
                            ACL_DEV_ATTR_VECTOR_CORE_NUM, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE}) {
    EXPECT_EQ(aclrtGetDeviceInfo(0, attr, &value), ACL_SUCCESS);
    EXPECT_GT(value, 0);
  }
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_WARP_SIZE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(aclrtGetDeviceInfo(3, ACL_DEV_ATTR_PHY_CHIP_ID, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 3);
}

TEST_F(DeviceTest, DeviceInfoRefusesWhatIsNotThere) {
  int64_t value = 77;
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_HD_CONNECT_TYPE, &value),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_DEVICE_FORM_FACTOR, &value),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtGetDeviceInfo(0, Foreign<aclrtDevAttr>(999), &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceInfo(4, ACL_DEV_ATTR_WARP_SIZE, &value), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDeviceInfo(UINT32_MAX, ACL_DEV_ATTR_WARP_SIZE, &value),
            ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(value, 77);
}

TEST_F(DeviceTest, CapabilityAnswersItsThreeItemsAndRefusesOthers) {
  int64_t value = -1;
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &value), ACL_SUCCESS);
  EXPECT_GT(value, 0);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value), ACL_SUCCESS);
  EXPECT_GT(value, 0);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &value), ACL_SUCCESS);
  EXPECT_GE(value, 0);
  value = 77;
  EXPECT_EQ(aclGetDeviceCapability(4, ACL_DEVICE_INFO_L2_SIZE, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_UNDEFINED, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(value, 77);
}

TEST_F(DeviceTest, EveryListedCannAttributeHasAnAnswer) {
  const aclCannAttr* attributes = nullptr;
  size_t num = 0;
  ASSERT_EQ(aclGetCannAttributeList(&attributes, &num), ACL_SUCCESS);
  ASSERT_EQ(num, 3U);
  for (size_t i = 0; i < num; ++i) {
    int32_t value = -1;
    EXPECT_EQ(aclGetCannAttribute(attributes[i], &value), ACL_SUCCESS);
    EXPECT_EQ(value, attributes[i] == ACL_CANN_ATTR_JIT_COMPILE ? 0 : 1);
  }
  int32_t value = 77;
  EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_UNDEFINED, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetCannAttribute(Foreign<aclCannAttr>(3), &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(value, 77);
}

TEST_F(DeviceTest, PrimaryContextFlagsAreReservedAndZero) {
  uint32_t flags = 7;
  int32_t active = -1;
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, &flags, &active), ACL_SUCCESS);
  EXPECT_EQ(flags, 0U);
  EXPECT_EQ(active, 0);
}

TEST_F(DeviceTest, NullPointersAreRefused) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetRunMode(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtQueryDeviceStatus(0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_WARP_SIZE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, nullptr), ACL_ERROR_INVALID_PARAM);
  const aclCannAttr* attributes = nullptr;
  size_t num = 0;
  EXPECT_EQ(aclGetCannAttributeList(nullptr, &num), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetCannAttributeList(&attributes, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_BF16, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(DeviceSettingsDeathTest, OneDeviceByDefault) {
  EXPECT_EXIT(ExitWithCount(), testing::ExitedWithCode(1), "^$");
  EXPECT_EXIT((ShowLog(), setenv("MLMARGIN_DEVICE_COUNT", "", 1), ExitWithCount()),
              testing::ExitedWithCode(1), "^$");
}

TEST_F(DeviceSettingsDeathTest, TheVariableSetsTheCount) {
  EXPECT_EXIT((setenv("MLMARGIN_DEVICE_COUNT", "5", 1), ExitWithCount()),
              testing::ExitedWithCode(5), "");
}

TEST_F(DeviceSettingsDeathTest, ABadCountGivesOneWarningAndTheDefault) {
  for (const char* bad : {"0", "65", "-1", "x", "3 ", "99999999999"}) {
    EXPECT_EXIT((ShowLog(), setenv("MLMARGIN_DEVICE_COUNT", bad, 1), ExitWithCount()),
                testing::ExitedWithCode(1),
                "^\\[WARNING\\] [^\n]*MLMARGIN_DEVICE_COUNT is \"[^\n]*\"; expected [^\n]*1 to 64; "
                "using the default, 1\\.\n$")
        << bad;
  }
}

TEST_F(DeviceSettingsDeathTest, TheCallBeatsTheVariable) {
  EXPECT_EXIT((setenv("MLMARGIN_DEVICE_COUNT", "5", 1),
               static_cast<void>(mlmargin::SetDeviceCount(2)), ExitWithCount()),
              testing::ExitedWithCode(2), "");
}

TEST_F(DeviceSettingsDeathTest, VisibleDevicesAreReadUpToTheFirstBadEntry) {
  const std::vector<std::pair<const char*, int>> cases = {
      {"1", 1},     {"1,2,3", 3}, {"0,3", 2}, {"0,4,1", 1}, {"2,1", 1},
      {"1,1,2", 1}, {"0,x,1", 1}, {"x", 0},   {"0, 1", 1},  {"0,", 1}};
  for (const auto& [text, count] : cases) {
    EXPECT_EXIT((setenv("MLMARGIN_DEVICE_COUNT", "4", 1),
                 setenv("ASCEND_RT_VISIBLE_DEVICES", text, 1), ExitWithCount()),
                testing::ExitedWithCode(count), "")
        << text;
  }
}

TEST_F(DeviceSettingsDeathTest, VisibleDevicesAreRenumberedFromZero) {
  const auto exit_with_second_chip = [] {
    setenv("MLMARGIN_DEVICE_COUNT", "8", 1);
    setenv("ASCEND_RT_VISIBLE_DEVICES", "2,5", 1);
    aclInit(nullptr);
    int64_t chip = 99;
    if (aclrtSetDevice(2) != ACL_ERROR_RT_INVALID_DEVICEID) std::_Exit(98);
    if (aclrtSetDevice(1) != ACL_SUCCESS) std::_Exit(97);
    aclrtGetDeviceInfo(1, ACL_DEV_ATTR_PHY_CHIP_ID, &chip);
    std::_Exit(static_cast<int>(chip));
  };
  EXPECT_EXIT(exit_with_second_chip(), testing::ExitedWithCode(5), "");
}

TEST_F(DeviceSettingsDeathTest, WithNoVisibleDeviceNoneCanBeSet) {
  const auto exit_with_name = [] {
    setenv("ASCEND_RT_VISIBLE_DEVICES", "none", 1);
    aclInit(nullptr);
    if (aclrtSetDevice(0) != ACL_ERROR_RT_INVALID_DEVICEID) std::_Exit(98);
    std::_Exit(aclrtGetSocName() == nullptr ? 0 : 97);
  };
  EXPECT_EXIT(exit_with_name(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mlmargin::runtime
