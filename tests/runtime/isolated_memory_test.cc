// SPDX-License-Identifier: Apache-2.0
// MLMARGIN_DEVICE_MEMORY=isolated: the host cannot touch device memory, copies and fills can, and
// what is wrong is said with the address and the allocation.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "mlmargin/device.h"
#include "runtime/stream_fixture.h"
#include "support/sanitizers.h"

namespace mlmargin::runtime {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;

// A discarded volatile value is not read by every compiler.
[[gnu::noinline]] void Read(volatile char* from) { [[maybe_unused]] volatile char value = *from; }

class IsolatedMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(SetDeviceMemory(DeviceMemory::kIsolated)) << TakeErrorText();
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&device_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  }
  void TearDown() override {
    aclFinalize();
    EXPECT_TRUE(SetDeviceMemory(DeviceMemory::kShared));
    TakeErrorText();
  }

  volatile char* bytes() const { return static_cast<volatile char*>(device_); }
  void ToDevice(const std::vector<char>& from) {
    ASSERT_EQ(aclrtMemcpy(device_, kBytes, from.data(), from.size(), ACL_MEMCPY_HOST_TO_DEVICE), 0);
  }
  std::vector<char> FromDevice() const {
    std::vector<char> to(kBytes);
    EXPECT_EQ(aclrtMemcpy(to.data(), kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    return to;
  }

  static constexpr size_t kBytes = 128;
  void* device_ = nullptr;
};
using IsolatedMemoryDeathTest = IsolatedMemoryTest;

std::vector<char> Counting(size_t count) {
  std::vector<char> bytes(count);
  std::iota(bytes.begin(), bytes.end(), char{1});
  return bytes;
}

// ---- Faults of the host ----------------------------------------------------------------------

#if defined(__x86_64__)
constexpr char kRead[] = "read", kWritten[] = "written";
#else
constexpr char kRead[] = "touched", kWritten[] = "touched";
#endif

std::string FaultText(const char* how, size_t byte) {
  return "device address 0x[0-9a-f]+ was " + std::string(how) +
         " by the host at .*isolated_memory_test.cc:[0-9]+: byte " + std::to_string(byte) +
         " of device allocation [0-9]+ .128 bytes at 0x[0-9a-f]+ on device 0, from "
         ".*isolated_memory_test.cc:[0-9]+.";
}

TEST_F(IsolatedMemoryDeathTest, AReadOfTheHostIsNamedAndEndsTheProcess) {
  EXPECT_DEATH(Read(&bytes()[16]),
               FaultText(kRead, 16) + ". Device memory is out of the host's reach");
}

TEST_F(IsolatedMemoryDeathTest, AWriteOfTheHostIsNamed) {
  EXPECT_DEATH(bytes()[0] = 1, FaultText(kWritten, 0));
}

TEST_F(IsolatedMemoryDeathTest, AnotherThreadsReadIsNamedToo) {
  EXPECT_DEATH(std::thread([&] { Read(&bytes()[5]); }).join(), FaultText(kRead, 5));
}

TEST_F(IsolatedMemoryDeathTest, FreedMemoryIsKnownAsFreed) {
  ASSERT_EQ(aclrtFree(device_), ACL_SUCCESS);
  EXPECT_DEATH(Read(&bytes()[7]),
               FaultText(kRead, 7) + ", which was freed at .*isolated_memory_test.cc:[0-9]+.\n");
}

[[gnu::noinline]] int Compare(const void* a, const void* b, size_t bytes) {
  volatile int order = std::memcmp(a, b, bytes);
  return order;
}

TEST_F(IsolatedMemoryDeathTest, AReadInTheCLibraryIsNamedByItsCaller) {
#ifdef MLMARGIN_SANITIZED
  GTEST_SKIP() << "the sanitizer's memcmp is part of the program";
#endif
  const std::array<char, 100> own{};
  EXPECT_DEATH(Compare(own.data(), device_, own.size()),
               "by the host at .*isolated_memory_test.cc:[0-9]+: byte [0-9]+ of device allocation");
}

TEST_F(IsolatedMemoryDeathTest, MemoryOfAResetDeviceIsKnownAsFreed) {
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_DEATH(Read(&bytes()[7]), FaultText(kRead, 7) + ", which was freed.\n");
}

TEST_F(IsolatedMemoryDeathTest, ACallOfADeviceAddressIsNamed) {
#ifdef MLMARGIN_SANITIZED
  GTEST_SKIP() << "the sanitizer reads before a call";
#endif
  EXPECT_DEATH(reinterpret_cast<void (*)()>(device_)(),
               "was executed by the host: byte 0 of device allocation [0-9]+ .128 bytes");
}

TEST_F(IsolatedMemoryDeathTest, OtherFaultsAreNotOurs) {
  volatile char* const nowhere = nullptr;
  EXPECT_EXIT(
      Read(nowhere), [](int status) { return status != 0; }, testing::Not(HasSubstr("mlmargin: ")));
}

TEST_F(IsolatedMemoryDeathTest, AByteBehindTheLastOneIsNamedAsThat) {
  EXPECT_DEATH(Read(&bytes()[kBytes + 5]),
               "by the host at .*isolated_memory_test.cc:[0-9]+: byte 5 past the end of device "
               "allocation [0-9]+ .128 bytes");
}

// ---- Copies and fills ------------------------------------------------------------------------

TEST_F(IsolatedMemoryTest, CopiesGoThroughWhole) {
  const std::vector<char> sent = Counting(kBytes);
  ToDevice(sent);
  EXPECT_EQ(FromDevice(), sent);
  void* second = nullptr;
  ASSERT_EQ(aclrtMalloc(&second, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(second, kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
  std::vector<char> got(kBytes);
  ASSERT_EQ(aclrtMemcpy(got.data(), kBytes, second, kBytes, ACL_MEMCPY_DEFAULT), 0);
  EXPECT_EQ(got, sent);
}

TEST_F(IsolatedMemoryTest, CopiesOfAPartFindIt) {
  ToDevice(Counting(kBytes));
  std::array<char, 3> got{};
  const char* const from = static_cast<const char*>(device_) + 40;
  ASSERT_EQ(aclrtMemcpy(got.data(), 3, from, 3, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_THAT(got, testing::ElementsAre(41, 42, 43));
  std::array<char, 4> rows{};
  ASSERT_EQ(aclrtMemcpy2d(rows.data(), 2, from, 10, 2, 2, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_THAT(rows, testing::ElementsAre(41, 42, 51, 52));
}

TEST_F(IsolatedMemoryTest, FillsGoThrough) {
  ASSERT_EQ(aclrtMemset(device_, kBytes, 7, kBytes), ACL_SUCCESS);
  EXPECT_THAT(FromDevice(), Each(7));
  ASSERT_EQ(aclrtMemsetAsync(device_, kBytes, 9, kBytes, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_THAT(FromDevice(), Each(9));
}

TEST_F(IsolatedMemoryTest, AsynchronousCopiesGoThrough) {
  const std::vector<char> sent = Counting(kBytes);
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, kBytes), ACL_SUCCESS);
  std::memcpy(pinned, sent.data(), kBytes);  // The host's own memory, which it may touch.
  ASSERT_EQ(aclrtMemcpyAsync(device_, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr),
            0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(FromDevice(), sent);
  std::vector<char> got(kBytes);
  ASSERT_EQ(
      aclrtMemcpyAsync(got.data(), kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, nullptr), 0);
  EXPECT_EQ(got, sent);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

// ---- Memory that is freed too early ----------------------------------------------------------

// What is said of work whose memory is freed before it runs.
template <class Enqueue, class Free>
std::string TextOfWorkOnFreedMemory(const Enqueue& enqueue, const Free& free) {
  Blocker blocker;
  EXPECT_EQ(aclrtLaunchHostFunc(nullptr, Blocker::HostFunction, &blocker), ACL_SUCCESS);
  EXPECT_EQ(enqueue(), ACL_SUCCESS);
  EXPECT_EQ(free(), ACL_SUCCESS);
  blocker.released.Open();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_DEVICE_MEM_ERROR);
  return TakeErrorText();
}

TEST_F(IsolatedMemoryTest, WorkOnMemoryThatWasFreedFailsWithItsName) {
  EXPECT_THAT(
      TextOfWorkOnFreedMemory([&] { return aclrtMemsetAsync(device_, kBytes, 1, kBytes, nullptr); },
                              [&] { return aclrtFree(device_); }),
      AllOf(HasSubstr("aclrtMemsetAsync: the memory of devPtr (128 bytes at 0x"),
            ContainsRegex("was freed at .*isolated_memory_test.cc:[0-9]+ before it ran")));
  // The stream works on.
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

TEST_F(IsolatedMemoryTest, AQueuedCopyOfMemoryThatWasFreedFailsWithItsName) {
  void* second = nullptr;
  ASSERT_EQ(aclrtMalloc(&second, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  const auto copy = [&] {
    return aclrtMemcpyAsync(second, kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr);
  };
  EXPECT_THAT(TextOfWorkOnFreedMemory(copy, [&] { return aclrtFree(device_); }),
              HasSubstr("aclrtMemcpyAsync: the memory of src (128 bytes at 0x"));
}

// Of device memory in use, and of mappings that the process has.
size_t NumMappings() {
  std::ifstream maps("/proc/self/maps");
  size_t lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

TEST_F(IsolatedMemoryTest, FreedMemoryGoesBackAndItsAddressesInTheEnd) {
  size_t free_before = 0, free_after = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total), ACL_SUCCESS);
  const size_t resident_before = ResidentBytes();
  const size_t mappings_before = NumMappings();
  constexpr size_t kLarge = size_t{1} << 20;
  for (int i = 0; i < 10000; ++i) {
    void* memory = nullptr;
    ASSERT_EQ(aclrtMalloc(&memory, kLarge, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(memory, kLarge, 1, 64), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total), ACL_SUCCESS);
  EXPECT_EQ(free_after, free_before);
  EXPECT_LE(NumMappings(), mappings_before + 4200);
  EXPECT_LT(ResidentBytes(), resident_before + kGrowthNoiseBytes + (size_t{4} << 20));
}

TEST_F(IsolatedMemoryTest, WorkOnPinnedMemoryThatWasFreedNamesTheRightFunction) {
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, kBytes), ACL_SUCCESS);
  const auto copy = [&] {
    return aclrtMemcpyAsync(device_, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr);
  };
  EXPECT_THAT(TextOfWorkOnFreedMemory(copy, [&] { return aclrtFreeHost(pinned); }),
              HasSubstr("wait for the stream before aclrtFreeHost."));
}

// ---- The setting -----------------------------------------------------------------------------

TEST_F(IsolatedMemoryTest, ComesTooLateAfterInit) {
  EXPECT_FALSE(SetDeviceMemory(DeviceMemory::kShared));
  EXPECT_THAT(TakeErrorText(), HasSubstr("call it before aclInit"));
}

TEST(SharedMemoryTest, IsTheDefaultAndOpenToTheHost) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  *static_cast<volatile char*>(device) = 5;
  char got = 0;
  ASSERT_EQ(aclrtMemcpy(&got, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(got, 5);
  aclFinalize();
}

// In a process of its own, as a child of fork has no workers.
TEST(DeviceMemoryVariableDeathTest, AHostFunctionsReadIsNamedToo) {
  const auto run = [] {
    setenv("MLMARGIN_DEVICE_MEMORY", "isolated", 1);
    void* device = nullptr;
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) std::_Exit(1);
    if (aclrtMalloc(&device, 128, ACL_MEM_MALLOC_HUGE_FIRST) != 0) std::_Exit(2);
    const auto read = [](void* data) { Read(static_cast<volatile char*>(data)); };
    aclrtLaunchHostFunc(nullptr, read, device);
    aclrtSynchronizeStream(nullptr);
    std::_Exit(0);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(run(), FaultText(kRead, 0));
}

TEST(DeviceMemoryVariableDeathTest, IsReadByInit) {
  const auto run = [](const char* value) {
    setenv("MLMARGIN_DEVICE_MEMORY", value, 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "2", 1);
    void* device = nullptr;
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) std::_Exit(1);
    if (aclrtMalloc(&device, 32, ACL_MEM_MALLOC_HUGE_FIRST) != 0) std::_Exit(2);
    *static_cast<volatile char*>(device) = 1;
    std::_Exit(0);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(run("isolated"), "by the host at .*: byte 0 of device allocation 1 .32 bytes");
  EXPECT_EXIT(run("shared"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(run("elsewhere"), testing::ExitedWithCode(0),
              "MLMARGIN_DEVICE_MEMORY is .elsewhere.; expected shared or isolated; using the "
              "default, shared");
}

}  // namespace
}  // namespace mlmargin::runtime
