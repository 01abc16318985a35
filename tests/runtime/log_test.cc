// SPDX-License-Identifier: Apache-2.0
// The log reads its settings once, so each case runs in a process of its own.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/private_api.h"
#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {
namespace {

using testing::ExitedWithCode;

class LogDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    for (const char* name :
         {"ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_MODULE_LOG_LEVEL", "ASCEND_LOG_PRINT_TO_STDOUT",
          "ASCEND_SLOG_PRINT_TO_STDOUT", "ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH"}) {
      unsetenv(name);
    }
  }

  static void Set(const char* name, const char* value) { setenv(name, value, 1); }

  // One line of each level, then the end.
  [[noreturn]] static void LogAll() {
    ACL_APP_LOG(ACL_DEBUG, "number %d", 0);
    ACL_APP_LOG(ACL_INFO, "number %d", 1);
    ACL_APP_LOG(ACL_WARNING, "number %d", 2);
    ACL_APP_LOG(ACL_ERROR, "number %d", 3);
    std::_Exit(0);
  }

  static std::string ContentOfFolder(const std::string& folder) {
    std::string content;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream file(entry.path());
      content.append(std::istreambuf_iterator<char>(file), {});
    }
    return content;
  }
};

TEST_F(LogDeathTest, WarningsAndErrorsGoToStandardErrorByDefault) {
  EXPECT_EXIT(LogAll(), ExitedWithCode(0),
              "^\\[WARNING\\] APP[^\n]*number 2\n\\[ERROR\\] APP[^\n]*number 3\n$");
}

TEST_F(LogDeathTest, TheLineHasLevelModulePidProcessTimeAndPlace) {
  EXPECT_EXIT(
      (aclAppLog(ACL_ERROR, "Function", "/folder/file.cc", 42, "text %s", "x"), std::_Exit(0)),
      ExitedWithCode(0),
      "^\\[ERROR\\] APP\\([0-9]+,runtime_log_test\\):[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{2}:"
      "[0-9]{2}:[0-9]{2}\\.[0-9]{3}\\.[0-9]{3} \\[file\\.cc:42\\]Function: text x\n$");
}

TEST_F(LogDeathTest, TheGlobalLevelFilters) {
  EXPECT_EXIT((Set("ASCEND_GLOBAL_LOG_LEVEL", "0"), LogAll()), ExitedWithCode(0),
              "^[^\n]*number 0\n[^\n]*number 1\n[^\n]*number 2\n[^\n]*number 3\n$");
  EXPECT_EXIT((Set("ASCEND_GLOBAL_LOG_LEVEL", "3"), LogAll()), ExitedWithCode(0),
              "^[^\n]*number 3\n$");
  EXPECT_EXIT((Set("ASCEND_GLOBAL_LOG_LEVEL", "4"), LogAll()), ExitedWithCode(0), "^$");
}

TEST_F(LogDeathTest, LevelsThatAreNoneAreIgnored) {
  for (const char* bad : {"5", "-1", "x", "", "01", "3 "}) {
    EXPECT_EXIT((Set("ASCEND_GLOBAL_LOG_LEVEL", bad), LogAll()), ExitedWithCode(0),
                "^[^\n]*number 2\n[^\n]*number 3\n$");
  }
}

TEST_F(LogDeathTest, TheModuleLevelBeatsTheGlobalOne) {
  EXPECT_EXIT((Set("ASCEND_GLOBAL_LOG_LEVEL", "0"),
               Set("ASCEND_MODULE_LOG_LEVEL", "OP=0:APP=3:bad:=1:RUNTIME=9"), LogAll()),
              ExitedWithCode(0), "^[^\n]*number 3\n$");
  EXPECT_EXIT((Set("ASCEND_MODULE_LOG_LEVEL", "OP=1"), Log(ACL_INFO, "OP", "an operator's"),
               Log(ACL_INFO, "RUNTIME", "the runtime's"), std::_Exit(0)),
              ExitedWithCode(0), "^\\[INFO\\] OP[^\n]*an operator's\n$");
}

TEST_F(LogDeathTest, OneSendsToStandardOutput) {
  const auto redirect_and_log = [](const char* name) {
    Set(name, "1");
    dup2(STDOUT_FILENO, 9);
    dup2(STDERR_FILENO, STDOUT_FILENO);  // What goes to standard output is seen by the test.
    close(STDERR_FILENO);
    LogAll();
  };
  EXPECT_EXIT(redirect_and_log("ASCEND_LOG_PRINT_TO_STDOUT"), ExitedWithCode(0), "number 2");
  EXPECT_EXIT(redirect_and_log("ASCEND_SLOG_PRINT_TO_STDOUT"), ExitedWithCode(0), "number 2");
}

TEST_F(LogDeathTest, ZeroSendsToAFileInTheFirstFolderOfThree) {
  const std::string folder = testing::TempDir() + "log_test_" + std::to_string(getpid());
  const auto log_and_read = [&](const char* variable, const std::string& sub) {
    Set("ASCEND_LOG_PRINT_TO_STDOUT", "0");
    Set("ASCEND_SLOG_PRINT_TO_STDOUT", "1");  // The old name loses.
    Set("HOME", "/dev/null");
    if (std::string(variable) == "ASCEND_PROCESS_LOG_PATH") Set("ASCEND_WORK_PATH", "/dev/null");
    Set(variable, folder.c_str());
    ACL_APP_LOG(ACL_ERROR, "in the file");
    const std::string content = ContentOfFolder(folder + sub);
    std::filesystem::remove_all(folder);
    std::_Exit(content.find("in the file\n") == std::string::npos ? 1 : 0);
  };
  EXPECT_EXIT(log_and_read("ASCEND_PROCESS_LOG_PATH", ""), ExitedWithCode(0), "^$");
  EXPECT_EXIT(log_and_read("ASCEND_WORK_PATH", ""), ExitedWithCode(0), "^$");
  EXPECT_EXIT(log_and_read("HOME", "/ascend/log"), ExitedWithCode(0), "^$");
}

TEST_F(LogDeathTest, AFolderThatCannotBeMadeFallsBackToStandardError) {
  EXPECT_EXIT((Set("ASCEND_LOG_PRINT_TO_STDOUT", "0"),
               Set("ASCEND_PROCESS_LOG_PATH", "/dev/null/folder"), LogAll()),
              ExitedWithCode(0), "WARNING[^\n]*/dev/null/folder[^\n]*\n.*number 3");
}

TEST_F(LogDeathTest, ApplicationTextsAreCutAt1024BytesWithTheTerminator) {
  const std::string longer(5000, 'x');
  EXPECT_EXIT((aclAppLog(ACL_ERROR, "F", "f.cc", 1, "%s", longer.c_str()), std::_Exit(0)),
              ExitedWithCode(0), "\\]F: x{1023}\n$");
}

TEST_F(LogDeathTest, BadArgumentsOfAppLogAreHarmless) {
  EXPECT_EXIT((aclAppLog(ACL_ERROR, nullptr, nullptr, 1, "no place"),
               aclAppLog(ACL_ERROR, "F", "f.cc", 1, nullptr),
               aclAppLog(Foreign<aclLogLevel>(17), "F", "f.cc", 1, "level"),
               aclAppLog(Foreign<aclLogLevel>(-1), "F", "f.cc", 1, "level"), std::_Exit(0)),
              ExitedWithCode(0), "^[^\n]*\\[\\?:1\\]\\?: no place\n$");
}

TEST_F(LogDeathTest, AFailureIsOneErrorLineWithItsPlace) {
  EXPECT_EXIT((aclInit(nullptr), aclrtSetDevice(99), std::_Exit(0)), ExitedWithCode(0),
              "^\\[ERROR\\] RUNTIME\\([^\n]*\\[device_api\\.cc:[0-9]+\\]aclrtSetDevice: [^\n]*99"
              "[^\n]*107001[^\n]*\n$");
}

TEST_F(LogDeathTest, ARepeatedInitIsNoErrorLine) {
  EXPECT_EXIT((aclInit(nullptr), aclInit(nullptr), std::_Exit(0)), ExitedWithCode(0), "^$");
  EXPECT_EXIT(
      (Set("ASCEND_GLOBAL_LOG_LEVEL", "1"), aclInit(nullptr), aclInit(nullptr), std::_Exit(0)),
      ExitedWithCode(0), "\\[INFO\\] RUNTIME[^\n]*aclInit: ");
}

}  // namespace
}  // namespace mlmargin::runtime
