// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "mlmargin/device.h"
#include "runtime/private_api.h"
#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {
namespace {

using testing::HasSubstr;

class InitTest : public testing::Test {
 protected:
  void TearDown() override {
    aclFinalize();
    if (FinalizeAclnn().ok()) TakeErrorText();
    TakeErrorText();
    std::remove(ConfigPath().c_str());
  }

  // Writes a configuration and returns its path.
  static std::string WriteConfig(const std::string& text) {
    std::ofstream(ConfigPath(), std::ios::binary) << text;
    return ConfigPath();
  }
  static std::string ConfigPath() {
    return testing::TempDir() + "init_test_" + std::to_string(getpid());
  }

  static aclError InitWith(const std::string& text) { return aclInit(WriteConfig(text).c_str()); }
};

// The process remembers its first configuration, so a test with one runs in a process of its own.
class InitConfigDeathTest : public InitTest {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

#define EXPECT_IN_CHILD(...)              \
  EXPECT_EXIT(                            \
      {                                   \
        __VA_ARGS__;                      \
        std::_Exit(HasFailure() ? 1 : 0); \
      },                                  \
      testing::ExitedWithCode(0), "")

TEST_F(InitTest, NullConfigMeansDefaults) { EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS); }

TEST_F(InitTest, EmptyPathMeansDefaults) { EXPECT_EQ(aclInit(""), ACL_SUCCESS); }

TEST_F(InitTest, EmptyObjectMeansDefaultsAndIsNoOtherConfigThanNull) {
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(InitWith(" {} \n"), ACL_SUCCESS);
}

TEST_F(InitTest, EveryCallAfterTheFirstIsCountedAndReturnsRepeat) {
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclInit("/no/such/file"), ACL_ERROR_REPEAT_INITIALIZE);
  uint64_t count = 99;
  EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);  // Still initialised.
  EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
}

TEST_F(InitTest, FinalizeEndsWhateverTheCount) {
  aclInit(nullptr);
  aclInit(nullptr);
  aclInit(nullptr);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST_F(InitTest, FinalizeWithoutInitIsRepeatFinalizeAndWritesNoCount) {
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclInit"));
  uint64_t count = 99;
  EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(count, 99U);
}

TEST_F(InitTest, BeforeInitSetDeviceSaysUninitialized) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclInit"));
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtCreateContext(&context, 0), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(context, nullptr);
}

TEST_F(InitTest, BeforeInitCallsThatNeedADeviceSayNoContextAndNameTheMissingCalls) {
  void* pointer = this;
  EXPECT_EQ(aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(pointer, this);
  const std::string text = TakeErrorText();
  EXPECT_THAT(text, HasSubstr("aclInit"));
  EXPECT_THAT(text, HasSubstr("aclrtSetDevice"));
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(InitTest, AfterFinalizeTheOldDeviceIsGone) {
  aclInit(nullptr);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* pointer = nullptr;
  ASSERT_EQ(aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(pointer), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(InitTest, InitWorkFinalizeCanBeRepeated) {
  for (int round = 0; round < 50; ++round) {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* pointer = nullptr;
    ASSERT_EQ(aclrtMalloc(&pointer, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(pointer, 100, 1, 100), ACL_SUCCESS);
    if (round % 2 == 0) {
      ASSERT_EQ(aclrtFree(pointer), ACL_SUCCESS);
      ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    }
    ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  }
}

TEST_F(InitTest, AclnnInitAloneIsEnough) {
  ASSERT_TRUE(InitAclnn(nullptr).ok());
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_TRUE(FinalizeAclnn().ok());
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(FinalizeAclnn().code(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST_F(InitTest, AclnnInitAndAclInitMayBeMixedAndTheLastFinalizeEnds) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_TRUE(InitAclnn(nullptr).ok());
  EXPECT_EQ(InitAclnn(nullptr).code(), ACL_ERROR_REPEAT_INITIALIZE);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_TRUE(FinalizeAclnn().ok());
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(InitTest, UnreadableFileIsInvalidFileAndLeavesUninitialised) {
  EXPECT_EQ(aclInit("/no/such/file.json"), ACL_ERROR_INVALID_FILE);
  EXPECT_THAT(TakeErrorText(), HasSubstr("/no/such/file.json"));
  EXPECT_EQ(aclInit("/tmp"), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
}

TEST_F(InitTest, FileThatIsNoJsonObjectIsParseFile) {
  for (const char* text : {"", "{", "[]", "1", "{\"a\":}", "not json", "\xff\xfe"}) {
    EXPECT_EQ(InitWith(text), ACL_ERROR_PARSE_FILE) << text;
  }
}

TEST_F(InitTest, HugeFileIsInvalidFileSize) {
  EXPECT_EQ(InitWith("{\"a\":\"" + std::string(2 << 20, 'x') + "\"}"), ACL_ERROR_INVALID_FILE_SIZE);
}

TEST_F(InitTest, NestingBeyondTenIsParseFile) {
  const auto braces = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "{\"a\":";
    text += "1";
    for (int i = 0; i < depth; ++i) text += "}";
    return text;
  };
  const auto brackets = [](size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(InitWith(braces(11)), ACL_ERROR_PARSE_FILE);
  EXPECT_EQ(InitWith(brackets(11)), ACL_ERROR_PARSE_FILE);
  EXPECT_EQ(InitWith(braces(100000)), ACL_ERROR_PARSE_FILE);
  EXPECT_EQ(InitWith(brackets(100000)), ACL_ERROR_PARSE_FILE);
}

TEST_F(InitConfigDeathTest, NestingOfTenIsAccepted) {
  EXPECT_IN_CHILD({
    EXPECT_EQ(InitWith("{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}},"
                       "\"b\":[[[[[[[[[[]]]]]]]]]]}"),
              ACL_SUCCESS);
  });
}

TEST_F(InitTest, BadValuesOfOurKeysAreFileAttrInvalid) {
  for (const char* text :
       {R"({"err_msg_mode":"2"})", R"({"err_msg_mode":1})",
        R"({"defaultDevice":{"default_device":0}})", R"({"defaultDevice":{"default_device":"x"}})",
        R"({"defaultDevice":{"default_device":"-1"}})",
        R"({"op_debug_config":{"enable_debug_kernel":"yes"}})"}) {
    EXPECT_EQ(InitWith(text), ACL_ERROR_FILE_ATTR_INVALID) << text;
    EXPECT_THAT(TakeErrorText(), HasSubstr("expected"));
  }
  EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
}

TEST_F(InitConfigDeathTest, DefaultDeviceThatIsNotThereFailsAndLeavesUninitialised) {
  EXPECT_IN_CHILD({
    EXPECT_EQ(InitWith(R"({"defaultDevice":{"default_device":"63"}})"),
              ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  });
}

TEST_F(InitConfigDeathTest, CallsAtExitAreHarmless) {
  const auto exit_with_work = [] {
    std::atexit([] {
      aclrtFree(nullptr);
      if (aclGetRecentErrMsg() == nullptr) std::_Exit(1);
      if (aclrtResetDevice(0) != ACL_SUCCESS) std::_Exit(2);
      if (aclFinalize() != ACL_SUCCESS) std::_Exit(3);
      ACL_APP_LOG(ACL_ERROR, "at exit");
    });
    aclInit(nullptr);
    aclrtSetDevice(0);
    void* pointer = nullptr;
    aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    std::exit(0);
  };
  EXPECT_EXIT(exit_with_work(), testing::ExitedWithCode(0), "");
}

TEST_F(InitConfigDeathTest, DefaultDeviceIsSetForTheThread) {
  EXPECT_IN_CHILD({
    EXPECT_EQ(InitWith(R"({"defaultDevice":{"default_device":"0"}})"), ACL_SUCCESS);
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    EXPECT_EQ(device, 0);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
}

TEST_F(InitConfigDeathTest, AnotherConfigAfterFinalizeIsInvalidParam) {
  EXPECT_IN_CHILD({
    EXPECT_EQ(InitWith(R"({"err_msg_mode":"0"})"), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(InitWith(R"({"err_msg_mode":"1"})"), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(InitWith(R"( { "err_msg_mode" : "0" } )"), ACL_SUCCESS);
  });
}

TEST_F(InitConfigDeathTest, ProcessMessageModeSharesTheTexts) {
  EXPECT_IN_CHILD({
    EXPECT_EQ(InitWith(R"({"err_msg_mode":"1"})"), ACL_SUCCESS);
    std::thread([] { aclrtFree(nullptr); }).join();
    EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtFree"));
    EXPECT_EQ(TakeErrorText(), "");
  });
}

TEST_F(InitConfigDeathTest, DebugKernelOfTheFileIsTheProcessOption) {
  EXPECT_IN_CHILD({
    EXPECT_EQ(InitWith(R"({"op_debug_config":{"enable_debug_kernel":"on"}})"), ACL_SUCCESS);
    int64_t value = -1;
    EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, &value), ACL_SUCCESS);
    EXPECT_EQ(value, 1);
  });
}

TEST_F(InitTest, SetDeviceCountHoldsFromTheNextInitAndIsRefusedWhileInitialised) {
  EXPECT_TRUE(mlmargin::SetDeviceCount(3));
  EXPECT_FALSE(mlmargin::SetDeviceCount(0));
  EXPECT_FALSE(mlmargin::SetDeviceCount(65));
  EXPECT_THAT(TakeErrorText(), HasSubstr("65"));
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 3U);
  EXPECT_FALSE(mlmargin::SetDeviceCount(2));
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclFinalize"));
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_TRUE(mlmargin::SetDeviceCount(1));
}

TEST_F(InitTest, ManyThreadsMayInitialiseAndFinalise) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) {
        aclInit(nullptr);
        if (aclrtSetDevice(0) == ACL_SUCCESS) {
          void* pointer = nullptr;
          aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_NORMAL_ONLY);
          aclrtSynchronizeDevice();
          aclrtFree(pointer);
        }
        aclFinalizeReference(nullptr);
      }
      TakeErrorText();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST_F(InitTest, VersionIsThatOfTheHeaders) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  int32_t major = 0;
  int32_t minor = 0;
  int32_t patch = -1;
  EXPECT_EQ(aclrtGetVersion(&major, &minor, &patch), ACL_SUCCESS);
  EXPECT_EQ(major, ACL_MAJOR_VERSION);
  EXPECT_EQ(minor, ACL_MINOR_VERSION);
  EXPECT_EQ(patch, ACL_PATCH_VERSION);
  EXPECT_EQ(aclrtGetVersion(nullptr, &minor, &patch), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetVersion(&major, nullptr, &patch), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetVersion(&major, &minor, nullptr), ACL_ERROR_INVALID_PARAM);
#pragma GCC diagnostic pop
}

TEST_F(InitConfigDeathTest, AclnnInitSaysWhichKeysItDoesNotTake) {
  EXPECT_EXIT(
      {
        setenv("ASCEND_GLOBAL_LOG_LEVEL", "2", 1);
        const bool ok = InitAclnn(WriteConfig(R"({"err_msg_mode": "1"})").c_str()).ok();
        std::_Exit(ok ? 0 : 1);
      },
      testing::ExitedWithCode(0), "WARNING.*err_msg_mode");
}

}  // namespace
}  // namespace mlmargin::runtime
