// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "runtime/api_call.h"
#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

using ErrorReportTest = InitializedTest;

constexpr const char* kStamp =
    "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]-[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\\.[0-9][0-9][0-9]"
    "\\.[0-9][0-9][0-9]";

TEST_F(ErrorReportTest, NothingPendingGivesNull) { EXPECT_EQ(aclGetRecentErrMsg(), nullptr); }

TEST_F(ErrorReportTest, TextHasPidTimeTitleCodeFunctionAndArgument) {
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_THAT(TakeErrorText(),
              MatchesRegex(std::string("\\[PID: [0-9]+\\] ") + kStamp +
                           " Invalid_Argument_Null_Pointer\\(EH0008\\): aclrtFree: .*devPtr.*\n"));
}

TEST_F(ErrorReportTest, ReadingClears) {
  aclrtFree(nullptr);
  EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(ErrorReportTest, NewestIsOnTopAndTheOthersFollowIndented) {
  aclrtFree(nullptr);
  aclrtFreeHost(nullptr);
  aclrtSetDevice(99);
  const std::string text = TakeErrorText();
  EXPECT_THAT(text, MatchesRegex("\\[PID: .*aclrtSetDevice: .*\nTraceBack .most recent call "
                                 "last.:\n +\\[PID: .*aclrtFreeHost: .*\n +\\[PID: .*aclrtFree: "
                                 ".*\n"));
}

TEST_F(ErrorReportTest, OneErrorHasNoTraceBack) {
  aclrtFree(nullptr);
  EXPECT_THAT(TakeErrorText(), Not(HasSubstr("TraceBack")));
}

TEST_F(ErrorReportTest, KeepsTheEightNewest) {
  for (int32_t device = 100; device < 120; ++device) aclrtSetDevice(device);
  const std::string text = TakeErrorText();
  EXPECT_THAT(text, Not(HasSubstr("is 111;")));
  for (int32_t device = 112; device < 120; ++device) {
    EXPECT_THAT(text, HasSubstr("is " + std::to_string(device) + ";"));
  }
}

TEST_F(ErrorReportTest, TextsAndLastErrorsBelongToTheThread) {
  aclrtFree(nullptr);
  std::thread([] {
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
  }).join();
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtFree"));
}

TEST_F(ErrorReportTest, PointerStaysValidUntilTheNextCall) {
  aclrtFree(nullptr);
  const char* const text = aclGetRecentErrMsg();
  for (int i = 0; i < 100; ++i) aclrtFreeHost(nullptr);
  EXPECT_THAT(std::string(text), HasSubstr("aclrtFree:"));
}

TEST_F(ErrorReportTest, LastErrorIsOverwrittenByFailuresOnlyAndPeekKeepsIt) {
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  aclrtSetDevice(99);
  uint32_t count = 0;
  aclrtGetDeviceCount(&count);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  aclrtFree(nullptr);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(ErrorReportTest, OnlyTheThreadLevelExists) {
  EXPECT_EQ(aclrtGetLastError(Foreign<aclrtLastErrLevel>(1)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtPeekAtLastError(Foreign<aclrtLastErrLevel>(-1)), ACL_ERROR_INVALID_PARAM);
}

TEST_F(ErrorReportTest, ReadingTheTextsKeepsTheLastError) {
  aclrtSetDevice(99);
  TakeErrorText();
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(ErrorReportTest, OutOfHostMemoryBecomesACode) {
  const auto fail = []() -> Status { throw std::bad_alloc(); };
  EXPECT_EQ(ApiCall("f", fail), ACL_ERROR_BAD_ALLOC);
  EXPECT_THAT(TakeErrorText(), HasSubstr("Resource_Error_Insufficient_Host_Memory(EH0010): f: "));
  EXPECT_EQ(ApiCall("f", fail, ApiFamily::kAclnn), 561000);
  EXPECT_THAT(TakeErrorText(), HasSubstr("AclNN_Inner_Error(EZ9999): f: "));
}

TEST_F(ErrorReportTest, EveryExceptionBecomesAnInternalError) {
  EXPECT_EQ(ApiCall("f", []() -> Status { throw std::runtime_error("the words"); }),
            ACL_ERROR_INTERNAL_ERROR);
  EXPECT_THAT(TakeErrorText(), HasSubstr("the words"));
  EXPECT_EQ(ApiCall("f", []() -> Status { throw 7; }), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_EQ(ApiCall(
                "f", []() -> Status { throw 7; }, ApiFamily::kAclnn),
            561000);
}

TEST_F(ErrorReportTest, AclnnCodesHaveTheirTitles) {
  Report("f", Status(161001, "EZ1001", "x"));
  EXPECT_THAT(TakeErrorText(), HasSubstr(" AclNN_Parameter_Error(EZ1001): f: x"));
  Report("f", Status(361001, "EZ9903", "x"));
  EXPECT_THAT(TakeErrorText(), HasSubstr(" AclNN_Runtime_Error(EZ9903): f: x"));
}

// A destructor that runs when a thread or the process ends may still call in.
struct CallsAtThreadEnd {
  ~CallsAtThreadEnd() {
    aclrtFree(nullptr);
    EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  }
};

TEST_F(ErrorReportTest, CallsFromThreadLocalDestructorsWork) {
  std::thread([] {
    thread_local CallsAtThreadEnd at_end;
    static_cast<void>(&at_end);
    aclrtFree(nullptr);
  }).join();
}

TEST_F(ErrorReportTest, FailingCallsDoNotGrowMemory) {
  const auto calls = [](int count) {
    for (int i = 0; i < count; ++i) aclrtSetDevice(99);
  };
  calls(1000);
  const size_t before = ResidentBytes();
  calls(100000);
  EXPECT_LT(ResidentBytes(), before + kGrowthNoiseBytes);
}

}  // namespace
}  // namespace mlmargin::runtime
