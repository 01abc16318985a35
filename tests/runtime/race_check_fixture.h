// SPDX-License-Identifier: Apache-2.0
// What the tests of the race check share: two streams, memory, and what the host does with it.
#ifndef MLMARGIN_TESTS_RUNTIME_RACE_CHECK_FIXTURE_H_
#define MLMARGIN_TESTS_RUNTIME_RACE_CHECK_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "mlmargin/device.h"
#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {

class RaceCheckTest : public testing::Test {
 protected:
  void SetUp() override {
#ifdef MLMARGIN_TSAN
    GTEST_SKIP() << "they race on purpose";
#endif
    ASSERT_TRUE(SetRaceCheck(true));
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&other_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&device_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&pinned_, kBytes), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEvent(&event_), ACL_SUCCESS);
    before_ = NumRaces();
  }
  void TearDown() override {
    if (pinned_ == nullptr) return;
    EXPECT_EQ(aclrtFreeHost(pinned_), ACL_SUCCESS);
    aclFinalize();
    EXPECT_TRUE(SetRaceCheck(false));
    TakeErrorText();
  }

  // Work that writes the device memory, or reads its first half into the pinned memory.
  void Write(aclrtStream stream) {
    ASSERT_EQ(aclrtMemsetAsync(device_, kBytes, 1, kBytes, stream), ACL_SUCCESS);
  }
  void ReadToPinned(aclrtStream stream) {
    ASSERT_EQ(
        aclrtMemcpyAsync(pinned_, kBytes, device_, kBytes / 2, ACL_MEMCPY_DEVICE_TO_HOST, stream),
        ACL_SUCCESS);
  }

  // What the host does, with how many races it was.
  uint64_t HostReads(size_t offset = 0) {
    std::vector<char> to(kBytes);
    const char* const from = static_cast<const char*>(device_) + offset;
    EXPECT_EQ(aclrtMemcpy(to.data(), kBytes, from, 16, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return Found();
  }
  uint64_t HostWrites(size_t offset = 0) {
    const std::vector<char> from(kBytes);
    char* const to = static_cast<char*>(device_) + offset;
    EXPECT_EQ(aclrtMemcpy(to, 16, from.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    return Found();
  }
  uint64_t Found() {
    const uint64_t now = NumRaces();
    return now - std::exchange(before_, now);
  }

  static constexpr size_t kBytes = 128;
  aclrtStream stream_ = nullptr, other_ = nullptr;
  aclrtEvent event_ = nullptr;
  void* device_ = nullptr;
  void* pinned_ = nullptr;
  uint64_t before_ = 0;
};

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_TESTS_RUNTIME_RACE_CHECK_FIXTURE_H_
