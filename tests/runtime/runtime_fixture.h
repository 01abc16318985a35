// SPDX-License-Identifier: Apache-2.0
// What the runtime's tests share: a clean beginning and end, and the newest error text.
#ifndef MLMARGIN_TESTS_RUNTIME_RUNTIME_FIXTURE_H_
#define MLMARGIN_TESTS_RUNTIME_RUNTIME_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "acl/acl.h"
#include "support/sanitizers.h"

namespace mlmargin::runtime {

// Thousands of calls fail here on purpose; the log of the library stays out of the way.
inline const int quiet_log = setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", /*overwrite=*/0);

// The calling thread's unread error texts, "" if there are none.
inline std::string TakeErrorText() {
  const char* const text = aclGetRecentErrMsg();
  return text == nullptr ? std::string() : std::string(text);
}

// Initialised, no device set.
class InitializedTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << TakeErrorText(); }
  void TearDown() override {
    aclFinalize();
    TakeErrorText();
  }
};

// Initialised, with device 0 set for the main thread.
class DeviceSetTest : public InitializedTest {
 protected:
  void SetUp() override {
    InitializedTest::SetUp();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << TakeErrorText();
  }
};

// An enum with a number outside of it, as a C caller may pass it.
template <typename Enum>
Enum Foreign(int number) {
  Enum value;
  static_assert(sizeof(value) == sizeof(number));
  std::memcpy(&value, &number, sizeof(value));
  return value;
}

// How much a test that repeats calls may grow: noise, and what a memory checker holds back.
#ifdef MLMARGIN_SANITIZED
inline constexpr size_t kGrowthNoiseBytes = size_t{512} << 20;
#else
inline constexpr size_t kGrowthNoiseBytes = size_t{4} << 20;
#endif

// The resident set of this process.
inline size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  size_t total_pages = 0;
  size_t resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * 4096;
}

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_TESTS_RUNTIME_RUNTIME_FIXTURE_H_
