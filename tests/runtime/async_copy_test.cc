// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/stream_fixture.h"

namespace mlmargin::runtime {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr size_t kBytes = 4096;

class AsyncCopyTest : public TwoStreamsTest {
 protected:
  void SetUp() override {
    TwoStreamsTest::SetUp();
    ASSERT_EQ(aclrtMalloc(&device_, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&device_2_, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    void* pinned = nullptr;
    ASSERT_EQ(aclrtMallocHost(&pinned, kBytes), ACL_SUCCESS);
    pinned_ = static_cast<uint8_t*>(pinned);
    std::iota(pinned_, pinned_ + kBytes, uint8_t{0});
    host_.assign(kBytes, 0);
    ASSERT_EQ(aclrtMemset(device_, kBytes, 0, kBytes), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(device_2_, kBytes, 0, kBytes), ACL_SUCCESS);
  }
  void TearDown() override {
    aclrtFreeHost(pinned_);
    TwoStreamsTest::TearDown();
  }

  // Device memory is host memory here; read it with the streams idle.
  static std::vector<uint8_t> Bytes(const void* address, size_t count = kBytes) {
    const auto* const bytes = static_cast<const uint8_t*>(address);
    return {bytes, bytes + count};
  }

  void* device_ = nullptr;
  void* device_2_ = nullptr;
  uint8_t* pinned_ = nullptr;
  std::vector<uint8_t> host_;
};

TEST_F(AsyncCopyTest, PinnedAndDeviceCopiesReturnAtOnceAndKeepTheOrder) {
  Blocker blocker;
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  ASSERT_EQ(aclrtMemcpyAsync(device_, kBytes, pinned_, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            ACL_SUCCESS);
  ASSERT_EQ(
      aclrtMemcpyAsync(device_2_, kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
      ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device_, kBytes, 0x1ff, kBytes, stream_), ACL_SUCCESS);
  EXPECT_FALSE(IsComplete(stream_));
  EXPECT_THAT(Bytes(device_), Each(0));
  blocker.released.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_THAT(Bytes(device_), Each(0xff));
  EXPECT_EQ(Bytes(device_2_), Bytes(pinned_));
  ASSERT_EQ(aclrtMemcpyAsync(pinned_, kBytes, device_, kBytes, ACL_MEMCPY_DEFAULT, nullptr),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_THAT(Bytes(pinned_), Each(0xff));
}

TEST_F(AsyncCopyTest, OrdinaryHostMemoryIsCopiedInStreamOrderBeforeTheCallReturns) {
  Blocker blocker;
  std::atomic<bool> first_done = false;
  ASSERT_EQ(EnqueueWork(stream_,
                        [&] {
                          blocker.Run();
                          std::memset(device_, 5, kBytes);
                          first_done = true;
                        }),
            0);
  blocker.entered.Pass();
  std::thread releaser([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    blocker.released.Open();
  });
  EXPECT_EQ(
      aclrtMemcpyAsync(host_.data(), kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream_),
      ACL_SUCCESS);
  EXPECT_TRUE(first_done);
  EXPECT_THAT(host_, Each(5));
  releaser.join();
}

TEST_F(AsyncCopyTest, OrdinaryHostMemoryMayGoWhenTheCallReturns) {
  {
    std::vector<uint8_t> source(kBytes, 9);
    EXPECT_EQ(aclrtMemcpyAsync(device_, kBytes, source.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                               stream_),
              ACL_SUCCESS);
    source.assign(kBytes, 1);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_THAT(Bytes(device_), Each(9));
}

TEST_F(AsyncCopyTest, BufferedCopySetsTheSourceAsideAndDoesNotWait) {
  Blocker blocker;
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  {
    std::vector<uint8_t> source(kBytes, 9);
    EXPECT_EQ(aclrtMemcpyAsync(device_, kBytes, source.data(), kBytes,
                               ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream_),
              ACL_SUCCESS);
    source.assign(kBytes, 1);
  }
  EXPECT_FALSE(IsComplete(stream_));
  blocker.released.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_THAT(Bytes(device_), Each(9));
}

TEST_F(AsyncCopyTest, QueuedCopyOutlivesFreedMemory) {
  Blocker blocker;
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  ASSERT_EQ(aclrtMemsetAsync(device_, kBytes, 6, kBytes, stream_), ACL_SUCCESS);
  ASSERT_EQ(
      aclrtMemcpyAsync(device_2_, kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
      ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(device_), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(device_, kBytes, 7, kBytes, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(
      aclrtMemcpyAsync(device_2_, kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
      ACL_ERROR_RT_PARAM_INVALID);
  blocker.released.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_THAT(Bytes(device_2_), Each(6));
}

TEST_F(AsyncCopyTest, FreedMemoryGoesBackWhenTheTaskEnds) {
  Blocker blocker;
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  const std::weak_ptr<const Block> block = FindDeviceMemory(memory, kBytes);
  ASSERT_EQ(EnqueueWork(stream_, [&] { blocker.Run(); }), 0);
  ASSERT_EQ(aclrtMemsetAsync(memory, kBytes, 1, kBytes, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_FALSE(block.expired());
  blocker.released.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(block.expired());
}

TEST_F(AsyncCopyTest, RowsAreCopiedWithTheirPitches) {
  constexpr size_t kWidth = 10;
  constexpr size_t kHeight = 5;
  ASSERT_EQ(aclrtMemcpy2dAsync(device_, 32, pinned_, 20, kWidth, kHeight, ACL_MEMCPY_HOST_TO_DEVICE,
                               stream_),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy2dAsync(device_2_, 16, device_, 32, kWidth, kHeight,
                               ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy2dAsync(host_.data(), kWidth, device_2_, 16, kWidth, kHeight,
                               ACL_MEMCPY_DEVICE_TO_HOST, stream_),
            ACL_SUCCESS);
  for (size_t row = 0; row < kHeight; ++row) {
    for (size_t i = 0; i < kWidth; ++i) EXPECT_EQ(host_[row * kWidth + i], row * 20 + i);
    EXPECT_THAT(Bytes(static_cast<uint8_t*>(device_2_) + row * 16 + kWidth, 6), Each(0));
  }
}

TEST_F(AsyncCopyTest, HostToHostIsNotSupported) {
  EXPECT_EQ(
      aclrtMemcpyAsync(host_.data(), kBytes, pinned_, kBytes, ACL_MEMCPY_HOST_TO_HOST, stream_),
      ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtMemcpyAsync(host_.data(), kBytes, pinned_, kBytes, ACL_MEMCPY_DEFAULT, stream_),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_THAT(host_, Each(0));
}

TEST_F(AsyncCopyTest, DeviceToDeviceWantsAlignedAddresses) {
  EXPECT_EQ(aclrtMemcpyAsync(static_cast<uint8_t*>(device_) + 32, 64, device_2_, 64,
                             ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("multiples of 64"));
  EXPECT_EQ(aclrtMemcpyAsync(device_, 64, static_cast<uint8_t*>(device_2_) + 4, 64,
                             ACL_MEMCPY_DEFAULT, stream_),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyAsync(static_cast<uint8_t*>(device_) + 64, 64, device_2_, 64,
                             ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
            ACL_SUCCESS);
  // The rule is for that direction alone.
  EXPECT_EQ(aclrtMemcpyAsync(static_cast<uint8_t*>(device_) + 1, 3, pinned_, 3,
                             ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(AsyncCopyTest, BadArgumentsAreRefusedAtOnceAndNothingIsWritten) {
  constexpr auto kToDevice = ACL_MEMCPY_HOST_TO_DEVICE;
  constexpr int kInvalid = ACL_ERROR_RT_PARAM_INVALID;
  EXPECT_EQ(aclrtMemcpyAsync(device_, 32, pinned_, 64, kToDevice, stream_), kInvalid);
  EXPECT_EQ(aclrtMemcpyAsync(device_, 2 * kBytes, pinned_, kBytes + 1, kToDevice, stream_),
            kInvalid);
  EXPECT_EQ(aclrtMemcpyAsync(host_.data(), kBytes, pinned_, 64, kToDevice, stream_), kInvalid);
  EXPECT_EQ(aclrtMemcpyAsync(nullptr, 64, pinned_, 64, kToDevice, stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyAsync(device_, 64, pinned_, 64, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemsetAsync(device_, 8, 1, 9, stream_), kInvalid);
  EXPECT_EQ(aclrtMemsetAsync(nullptr, 8, 1, 8, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemsetAsync(host_.data(), 8, 1, 8, stream_), kInvalid);
  EXPECT_EQ(aclrtMemsetAsync(device_, kBytes + 64, 1, kBytes + 64, stream_), kInvalid);
  EXPECT_EQ(aclrtMemcpy2dAsync(device_, 4, pinned_, 8, 5, 1, kToDevice, stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy2dAsync(device_, 5000001, pinned_, 5000001, 5000001, 1, kToDevice, stream_),
            kInvalid);
  EXPECT_EQ(aclrtMemcpy2dAsync(device_, 1, pinned_, 1, 1, 5242881, kToDevice, stream_), kInvalid);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_THAT(Bytes(device_), Each(0));
}

TEST_F(AsyncCopyTest, CountZeroIsSuccess) {
  EXPECT_EQ(aclrtMemcpyAsync(nullptr, 0, nullptr, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(nullptr, 0, 1, 0, stream_), ACL_SUCCESS);
}

TEST_F(AsyncCopyTest, StaleStreamIsRefused) {
  ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  constexpr int kExpected = ACL_ERROR_RT_INVALID_HANDLE;
  EXPECT_EQ(aclrtMemcpyAsync(device_, 64, pinned_, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            kExpected);
  EXPECT_EQ(aclrtMemcpy2dAsync(device_, 64, pinned_, 64, 64, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            kExpected);
  EXPECT_EQ(aclrtMemsetAsync(device_, 64, 1, 64, stream_), kExpected);
}

TEST_F(AsyncCopyTest, AbortedCopyOfOrdinaryMemorySaysThatItDidNotHappen) {
  Blocker blocker;
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Blocker::HostFunction, &blocker), ACL_SUCCESS);
  blocker.entered.Pass();
  std::thread aborter([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // The copy is queued by then.
    EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
    blocker.released.Open();
  });
  const aclError code =
      aclrtMemcpyAsync(device_, kBytes, host_.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
  aborter.join();
  // A copy that came late ran, of course.
  EXPECT_THAT(code, testing::AnyOf(ACL_ERROR_RT_STREAM_ABORT, ACL_SUCCESS));
}

}  // namespace
}  // namespace mlmargin::runtime
