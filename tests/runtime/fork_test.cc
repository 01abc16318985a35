// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "runtime/private_api.h"
#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {
namespace {

// Runs `body` in a child of fork and returns its exit code.
template <typename Body>
int InForkOf(Body body) {
  const pid_t child = fork();
  if (child == 0) std::_Exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(ForkTest, AChildForkedBeforeInitWorks) {
  // Holds only if no other test initialised this process before.
  if (InForkOf([] { return aclrtSetDevice(0) == ACL_ERROR_UNINITIALIZE ? 0 : 1; }) != 0) {
    GTEST_SKIP() << "initialised by an earlier test";
  }
  EXPECT_EQ(InForkOf([] {
              if (aclInit(nullptr) != ACL_SUCCESS) return 1;
              if (aclrtSetDevice(0) != ACL_SUCCESS) return 2;
              if (aclrtSynchronizeDevice() != ACL_SUCCESS) return 3;
              return aclFinalize() == ACL_SUCCESS ? 0 : 4;
            }),
            0);
}

TEST(ForkTest, AFailedInitDoesNotTurnChildrenAway) {
  EXPECT_EQ(InForkOf([] {
              if (InForkedChild()) return 0;  // Initialised by an earlier test: nothing to see.
              const std::string path = testing::TempDir() + "fork_test_" + std::to_string(getpid());
              std::ofstream(path) << R"({"defaultDevice": {"default_device": "63"}})";
              const aclError failed = aclInit(path.c_str());
              std::remove(path.c_str());
              if (failed != ACL_ERROR_RT_INVALID_DEVICEID) return 1;
              return InForkOf([] { return aclInit(nullptr) == ACL_SUCCESS ? 0 : 1; }) * 2;
            }),
            0);
}

// A child may end in any way, also through the handlers of exit.
TEST(ForkDeathTest, AChildThatCallsExitEnds) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  // What the threads that the child lacks had on their stacks would count as leaked.
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  EXPECT_EXIT(
      {
        aclInit(nullptr);
        aclrtSetDevice(0);
        aclrtStream stream = nullptr;
        aclrtCreateStream(&stream);
        void* memory = nullptr;
        aclrtMalloc(&memory, 1 << 26, ACL_MEM_MALLOC_HUGE_FIRST);
        for (int i = 0; i < 20; ++i) aclrtMemsetAsync(memory, 1 << 26, i, 1 << 26, stream);
        const pid_t child = fork();
        if (child == 0) {
          alarm(30);
          std::exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
      },
      testing::ExitedWithCode(0), "");
}

class ForkedChildTest : public DeviceSetTest {};

TEST_F(ForkedChildTest, EveryCallOfAChildFailsWithAClearText) {
  void* pointer = nullptr;
  ASSERT_EQ(aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(InForkOf([&] {
              void* other = nullptr;
              if (aclrtMalloc(&other, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 507000) return 1;
              const char* const text = aclGetRecentErrMsg();
              if (text == nullptr || std::strstr(text, "forked") == nullptr) return 2;
              if (std::strstr(text, "aclrtMalloc") == nullptr) return 3;
              if (aclGetRecentErrMsg() != nullptr) return 4;
              if (aclrtFree(pointer) != 507000) return 5;
              if (aclInit(nullptr) != 507000) return 6;
              if (aclFinalize() != 507000) return 7;
              if (aclrtSetDevice(0) != 507000) return 8;
              if (aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) != 507000) return 9;
              if (aclrtGetLastError(ACL_RT_THREAD_LEVEL) != 507000) return 10;
              if (aclCreateDataBuffer(nullptr, 0) != nullptr) return 11;
              ACL_APP_LOG(ACL_ERROR, "goes nowhere");
              return InForkedChild() ? 0 : 12;
            }),
            0);
  EXPECT_FALSE(InForkedChild());
  EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
}

TEST_F(ForkedChildTest, AGrandchildIsTurnedAwayToo) {
  EXPECT_EQ(
      InForkOf([] { return InForkOf([] { return aclrtSynchronizeDevice() == 507000 ? 0 : 1; }); }),
      0);
}

TEST_F(ForkedChildTest, AForkWhileOtherThreadsCallDoesNotHangTheChild) {
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    aclrtSetDevice(0);
    while (!stop) {
      void* pointer = nullptr;
      aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST);
      aclrtFree(pointer);
      aclrtFree(nullptr);
    }
    TakeErrorText();
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(InForkOf([] {
                if (aclrtFree(nullptr) != 507000) return 1;
                return aclGetRecentErrMsg() != nullptr ? 0 : 2;
              }),
              0);
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace mlmargin::runtime
