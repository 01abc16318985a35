// SPDX-License-Identifier: Apache-2.0
// MLMARGIN_RACE_CHECK=1: copies and fills of the host on memory that work of a stream touches,
// without a wait for that work. It does not matter whether the work is over: what counts is who
// knows it.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "runtime/race_check_fixture.h"

namespace mlmargin::runtime {
namespace {

// ---- What is a race --------------------------------------------------------------------------

TEST_F(RaceCheckTest, AReadOfWhatWorkWrites) {
  Write(stream_);
  EXPECT_EQ(HostReads(), 1U);
}

TEST_F(RaceCheckTest, AWriteToWhatWorkWritesOrReads) {
  Write(stream_);
  EXPECT_EQ(HostWrites(), 1U);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ReadToPinned(stream_);
  EXPECT_EQ(HostWrites(), 1U);
}

TEST_F(RaceCheckTest, AReadOfWhatWorkReadsIsNone) {
  ReadToPinned(stream_);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceCheckTest, OtherBytesAreNone) {
  ReadToPinned(stream_);  // The first half.
  EXPECT_EQ(HostWrites(kBytes / 2), 0U);
  EXPECT_EQ(HostWrites(kBytes / 2 - 8), 1U);
}

TEST_F(RaceCheckTest, PinnedMemoryCountsAsDeviceMemoryDoes) {
  ReadToPinned(stream_);
  std::vector<char> to(kBytes);
  ASSERT_EQ(aclrtMemcpy(to.data(), kBytes, pinned_, kBytes, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(Found(), 1U);
  ASSERT_EQ(aclrtMemset(pinned_, kBytes, 0, kBytes), ACL_SUCCESS);
  EXPECT_EQ(Found(), 1U);
}

TEST_F(RaceCheckTest, RowsAndBufferedCopiesCount) {
  Write(stream_);
  std::vector<char> to(kBytes);
  ASSERT_EQ(aclrtMemcpy2d(to.data(), 8, device_, 8, 4, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(Found(), 1U);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ReadToPinned(stream_);
  // Reads its source at once.
  ASSERT_EQ(
      aclrtMemcpyAsync(device_, kBytes, pinned_, 16, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream_),
      ACL_SUCCESS);
  EXPECT_EQ(Found(), 1U);
}

TEST_F(RaceCheckTest, CopiesInTheSameStreamAreNone) {
  Write(stream_);
  std::vector<char> to(kBytes);
  ASSERT_EQ(
      aclrtMemcpyAsync(to.data(), kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream_),
      ACL_SUCCESS);
  EXPECT_EQ(Found(), 0U);
  // It came back after the copy, so its thread knows of all before it.
  EXPECT_EQ(HostReads(), 0U);
}

// ---- What makes it none ----------------------------------------------------------------------

TEST_F(RaceCheckTest, AWaitForTheStream) {
  Write(stream_);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 10000), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceCheckTest, AWaitForAnotherStreamIsNot) {
  Write(stream_);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 1U);
}

TEST_F(RaceCheckTest, AWaitForTheDevice) {
  Write(stream_);
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceCheckTest, AWaitForAnEventBehindIt) {
  Write(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(event_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceCheckTest, AWaitForAnEventBeforeItIsNot) {
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  Write(stream_);
  ASSERT_EQ(aclrtSynchronizeEvent(event_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 1U);
}

TEST_F(RaceCheckTest, AWaitForAStreamThatWaitedForIt) {
  Write(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 1U);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceCheckTest, AQueryThatSaysComplete) {
  Write(stream_);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) {
    ASSERT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  }
  EXPECT_EQ(HostReads(), 0U);
  Write(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  while (recorded != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
    ASSERT_EQ(aclrtQueryEventStatus(event_, &recorded), ACL_SUCCESS);
  }
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceCheckTest, AHostFunctionBehindIt) {
  Write(stream_);
  std::atomic<bool> ran = false;
  ASSERT_EQ(
      aclrtLaunchHostFunc(
          stream_, [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &ran),
      ACL_SUCCESS);
  while (!ran) std::this_thread::yield();
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceCheckTest, ACallbackBehindIt) {
  ASSERT_EQ(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream_), ACL_SUCCESS);
  Write(stream_);
  ASSERT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_NO_BLOCK, stream_),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtProcessReport(10000), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

TEST_F(RaceCheckTest, TheEndOfTheStream) {
  Write(stream_);
  ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(HostReads(), 0U);
}

// Whether the work was done, running or dropped.
TEST_F(RaceCheckTest, AnAbort) {
  for (int i = 0; i < 200; ++i) {
    Write(stream_);
    if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
    ASSERT_EQ(HostReads(), 0U);
  }
}

// ---- How it is said --------------------------------------------------------------------------

// 32 bytes of a process that checks for races, with work on them that nobody has waited for.
void* BytesWithWork() {
  setenv("MLMARGIN_RACE_CHECK", "1", 1);
  void* device = nullptr;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) std::_Exit(101);
  if (aclrtMalloc(&device, 32, ACL_MEM_MALLOC_HUGE_FIRST) != 0) std::_Exit(102);
  if (aclrtMemsetAsync(device, 32, 1, 32, nullptr) != 0) std::_Exit(103);
  return device;
}

// In a process of its own, whose log can be read.
TEST(RaceCheckDeathTest, NamesBothPlacesOnce) {
#ifdef MLMARGIN_TSAN
  GTEST_SKIP() << "it races on purpose";
#endif
  const auto run = [] {
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "3", 1);
    void* const device = BytesWithWork();
    char got = 0;
    for (int i = 0; i < 3; ++i) aclrtMemcpy(&got, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST);
    std::_Exit(NumRaces() == 3 ? 0 : 4);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(run(), testing::ExitedWithCode(0),
              "^[^\n]*race: aclrtMemcpy at .*race_check_test.cc:[0-9]+ reads the 1 bytes of src at "
              "0x[0-9a-f]+, which aclrtMemsetAsync .devPtr, 32 bytes at 0x[0-9a-f]+. writes as "
              "work of stream [0-9]+, enqueued at .*race_check_test.cc:[0-9]+; nothing has waited "
              "for that work[^\n]*\n$");
}

// A library's constructor runs under a lock of the loader's, which whoever looks up a place must
// not wait for.
TEST(RaceCheckDeathTest, AReportHoldsUpNoCallOfALibraryThatIsBeingLoaded) {
#ifdef MLMARGIN_TSAN
  GTEST_SKIP() << "it races on purpose";
#endif
  const auto run = [] {
    alarm(20);
    void* const device = BytesWithWork();
    std::thread([device] {
      char got = 0;
      aclrtSetDevice(0);
      for (;;) aclrtMemcpy(&got, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST);
    }).detach();
    while (NumRaces() == 0) std::this_thread::yield();
    std::_Exit(dlopen(MLMARGIN_WAITING_LIBRARY, RTLD_NOW) != nullptr ? 0 : 4);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST(RaceCheckOffTest, IsTheDefault) {
#ifdef MLMARGIN_TSAN
  GTEST_SKIP() << "it races on purpose";
#endif
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const uint64_t before = NumRaces();
  void* device = nullptr;
  char got = 0;
  ASSERT_EQ(aclrtMalloc(&device, 32, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device, 32, 1, 32, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(&got, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(NumRaces(), before);
  aclFinalize();
}

}  // namespace
}  // namespace mlmargin::runtime
