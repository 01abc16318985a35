// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr size_t kBytes = 256;

// A device block, a pinned block and ordinary host memory of kBytes each.
class CopyTest : public DeviceSetTest {
 protected:
  void SetUp() override {
    DeviceSetTest::SetUp();
    ASSERT_EQ(aclrtMalloc(&device_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&device2_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&pinned_, kBytes), ACL_SUCCESS);
    std::iota(host_.begin(), host_.end(), static_cast<unsigned char>(0));
    std::memset(device_, 0xEE, kBytes);
    std::memset(device2_, 0xEE, kBytes);
    std::memset(pinned_, 0xEE, kBytes);
  }
  void TearDown() override {
    aclrtFreeHost(pinned_);
    DeviceSetTest::TearDown();
  }

  static std::vector<unsigned char> BytesAt(const void* pointer) {
    const auto* bytes = static_cast<const unsigned char*>(pointer);
    return {bytes, bytes + kBytes};
  }
  static char* At(void* pointer, size_t offset) { return static_cast<char*>(pointer) + offset; }

  void* device_ = nullptr;
  void* device2_ = nullptr;
  void* pinned_ = nullptr;
  std::vector<unsigned char> host_ = std::vector<unsigned char>(kBytes);
  std::vector<unsigned char> back_ = std::vector<unsigned char>(kBytes);
};

TEST_F(CopyTest, RoundTripOverAllDirections) {
  EXPECT_EQ(aclrtMemcpy(pinned_, kBytes, host_.data(), kBytes, ACL_MEMCPY_HOST_TO_HOST),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(device_, kBytes, pinned_, kBytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(device2_, kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(back_.data(), kBytes, device2_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  EXPECT_EQ(back_, host_);
}

TEST_F(CopyTest, HostToBufToDeviceCopiesToTheDevice) {
  EXPECT_EQ(aclrtMemcpy(device_, kBytes, host_.data(), kBytes, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE),
            ACL_SUCCESS);
  EXPECT_EQ(BytesAt(device_), host_);
}

TEST_F(CopyTest, DefaultGoesByTheAddresses) {
  EXPECT_EQ(aclrtMemcpy(device_, kBytes, host_.data(), kBytes, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(device2_, kBytes, device_, kBytes, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(pinned_, kBytes, device2_, kBytes, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(back_.data(), kBytes, pinned_, kBytes, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(back_, host_);
}

TEST_F(CopyTest, RegisteredMemoryServesOnBothSides) {
  constexpr size_t kPage = 4096;
  char* const page = static_cast<char*>(std::aligned_alloc(kPage, kPage));
  std::memcpy(page, host_.data(), kBytes);
  void* mapped = nullptr;
  ASSERT_EQ(aclrtHostRegister(page, kPage, ACL_HOST_REGISTER_MAPPED, &mapped), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(device_, kBytes, mapped, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(device2_, kBytes, page, kBytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(device_), host_);
  EXPECT_EQ(BytesAt(device2_), host_);
  EXPECT_EQ(aclrtHostUnregister(page), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(device_, kBytes, page, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
  std::free(page);
}

TEST_F(CopyTest, OverlappingCopyMovesTheBytes) {
  ASSERT_EQ(aclrtMemcpy(device_, kBytes, host_.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
  EXPECT_EQ(
      aclrtMemcpy(At(device_, 1), kBytes - 1, device_, kBytes - 1, ACL_MEMCPY_DEVICE_TO_DEVICE),
      ACL_SUCCESS);
  const std::vector<unsigned char> moved = BytesAt(device_);
  for (size_t i = 1; i < kBytes; ++i) EXPECT_EQ(moved[i], host_[i - 1]);
}

TEST_F(CopyTest, CountZeroIsSuccessBeforeAnyPointerCheck) {
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, Foreign<aclrtMemcpyKind>(99)), ACL_SUCCESS);
}

TEST_F(CopyTest, NullPointersAndForeignKindsAreRefused) {
  EXPECT_EQ(aclrtMemcpy(nullptr, kBytes, host_.data(), kBytes, ACL_MEMCPY_DEFAULT),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy(device_, kBytes, nullptr, kBytes, ACL_MEMCPY_DEFAULT),
            ACL_ERROR_INVALID_PARAM);
  for (int kind : {6, 7, 8, -1}) {
    EXPECT_EQ(aclrtMemcpy(device_, kBytes, host_.data(), kBytes, Foreign<aclrtMemcpyKind>(kind)),
              ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_THAT(BytesAt(device_), Each(0xEE));
}

TEST_F(CopyTest, CountAboveDestMaxIsRefusedAndWritesNothing) {
  EXPECT_EQ(aclrtMemcpy(device_, 32, host_.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("count is 64 bytes; expected at most destMax, 32"));
  EXPECT_THAT(BytesAt(device_), Each(0xEE));
}

TEST_F(CopyTest, ADeviceSideMustLieWholeInOneLiveDeviceBlock) {
  const auto refused = [&](void* dst, const void* src, size_t count, aclrtMemcpyKind kind) {
    return aclrtMemcpy(dst, count, src, count, kind) == ACL_ERROR_RT_PARAM_INVALID;
  };
  EXPECT_TRUE(refused(back_.data(), host_.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(refused(pinned_, host_.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(refused(back_.data(), host_.data(), 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(refused(device_, host_.data(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_TRUE(refused(At(device_, 1), host_.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(refused(back_.data(), At(device_, kBytes - 1), 2, ACL_MEMCPY_DEVICE_TO_HOST));
  ASSERT_EQ(aclrtFree(device2_), ACL_SUCCESS);
  EXPECT_TRUE(refused(device2_, host_.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_THAT(TakeErrorText(), HasSubstr("no live device memory"));
  EXPECT_THAT(back_, Each(0));
  EXPECT_THAT(BytesAt(pinned_), Each(0xEE));
  EXPECT_THAT(BytesAt(device_), Each(0xEE));
}

TEST_F(CopyTest, AHostSideMustNotBeDeviceMemory) {
  EXPECT_EQ(aclrtMemcpy(device_, 64, device2_, 64, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(device_, 64, device2_, 64, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(device_, 64, host_.data(), 64, ACL_MEMCPY_HOST_TO_HOST),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("expected host memory"));
}

TEST_F(CopyTest, ACopyPastTheEndOfAPinnedOrDeviceBlockIsRefused) {
  std::vector<unsigned char> large(2 * kBytes);
  EXPECT_EQ(aclrtMemcpy(pinned_, 2 * kBytes, large.data(), 2 * kBytes, ACL_MEMCPY_HOST_TO_HOST),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(device_, 2 * kBytes, large.data(), 2 * kBytes, ACL_MEMCPY_DEFAULT),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("past the end"));
  EXPECT_THAT(BytesAt(pinned_), Each(0xEE));
  EXPECT_THAT(BytesAt(device_), Each(0xEE));
}

TEST_F(CopyTest, ACopyIntoABlockFromInFrontOfItIsRefused) {
  std::vector<unsigned char> large(2 * kBytes);
  auto* const before = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(device_) - 1);
  for (const aclrtMemcpyKind kind : {ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_DEFAULT}) {
    EXPECT_EQ(aclrtMemcpy(before, 2, large.data(), 2, kind), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_THAT(TakeErrorText(), HasSubstr("runs into memory from aclrtMalloc"));
    EXPECT_EQ(aclrtMemcpy(large.data(), 2, before, 2, kind), ACL_ERROR_RT_PARAM_INVALID);
  }
  EXPECT_EQ(aclrtMemset(before, 2, 7, 2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(BytesAt(device_), Each(0xEE));
}

// The device's block lies somewhere between the two rows, and is not touched.
TEST_F(CopyTest, WhatLiesBetweenRowsIsNotInTheWay) {
  static std::array<unsigned char, 8> first;
  std::array<unsigned char, 8> second;
  first.fill(1);
  second.fill(2);
  const size_t pitch =
      reinterpret_cast<uintptr_t>(second.data()) - reinterpret_cast<uintptr_t>(first.data());
  ASSERT_LT(reinterpret_cast<uintptr_t>(device_) - reinterpret_cast<uintptr_t>(first.data()), pitch)
      << "expected the stack above the heap, above the program's own data";
  EXPECT_EQ(aclrtMemcpy2d(device_, 8, first.data(), pitch, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE), 0);
  EXPECT_EQ(BytesAt(device_)[0], 1);
  EXPECT_EQ(BytesAt(device_)[8], 2);
}

TEST_F(CopyTest, RowsAreCopiedAndTheBytesBetweenThemKept) {
  constexpr size_t kRows = 4;
  constexpr size_t kWidth = 5;
  constexpr size_t kDpitch = 16;
  constexpr size_t kSpitch = 11;
  EXPECT_EQ(aclrtMemcpy2d(device_, kDpitch, host_.data(), kSpitch, kWidth, kRows,
                          ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
  const std::vector<unsigned char> copied = BytesAt(device_);
  for (size_t i = 0; i < kBytes; ++i) {
    const size_t row = i / kDpitch;
    const size_t column = i % kDpitch;
    const bool inside = row < kRows && column < kWidth;
    EXPECT_EQ(copied[i], inside ? host_[row * kSpitch + column] : 0xEE) << i;
  }
  EXPECT_EQ(aclrtMemcpy2d(back_.data(), kSpitch, device_, kDpitch, kWidth, kRows,
                          ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  for (size_t i = 0; i < kBytes; ++i) {
    const bool inside = i / kSpitch < kRows && i % kSpitch < kWidth;
    EXPECT_EQ(back_[i], inside ? host_[i] : 0) << i;
  }
}

TEST_F(CopyTest, TheLastRowNeedsNoPitch) {
  EXPECT_EQ(aclrtMemcpy2d(device_, 100, host_.data(), 100, 56, 3, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy2d(device_, 100, host_.data(), 100, 57, 3, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(CopyTest, RowCopiesCheckTheirShape) {
  const auto copy = [&](size_t dpitch, size_t spitch, size_t width, size_t height,
                        aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE) {
    return aclrtMemcpy2d(device_, dpitch, host_.data(), spitch, width, height, kind);
  };
  EXPECT_EQ(copy(4, 8, 5, 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(copy(8, 4, 5, 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(copy(8, 8, 0, 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(copy(8, 8, 8, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(copy(SIZE_MAX, SIZE_MAX, 8, 3), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(copy(8, 8, 8, SIZE_MAX), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(copy(8, 8, 8, 33), ACL_ERROR_RT_PARAM_INVALID);
  for (int kind : {0, 3, 4, 5, 6, 7, 8}) {
    EXPECT_EQ(copy(8, 8, 8, 2, Foreign<aclrtMemcpyKind>(kind)), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(aclrtMemcpy2d(nullptr, 8, host_.data(), 8, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy2d(device_, 8, nullptr, 8, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_THAT(BytesAt(device_), Each(0xEE));
}

TEST_F(CopyTest, MemsetTakesTheLow8BitsOnHostAndDevice) {
  EXPECT_EQ(aclrtMemset(device_, kBytes, 0x1234AB, kBytes), ACL_SUCCESS);
  EXPECT_THAT(BytesAt(device_), Each(0xAB));
  EXPECT_EQ(aclrtMemset(pinned_, kBytes, -1, kBytes), ACL_SUCCESS);
  EXPECT_THAT(BytesAt(pinned_), Each(0xFF));
  EXPECT_EQ(aclrtMemset(host_.data(), kBytes, 3, kBytes), ACL_SUCCESS);
  EXPECT_THAT(host_, Each(3));
}

TEST_F(CopyTest, MemsetChecksItsArguments) {
  EXPECT_EQ(aclrtMemset(nullptr, 0, 1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(nullptr, 4, 1, 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemset(device_, 4, 1, 5), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemset(device_, 2 * kBytes, 1, 2 * kBytes), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemset(At(pinned_, 1), kBytes, 1, kBytes), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(BytesAt(device_), Each(0xEE));
  EXPECT_THAT(BytesAt(pinned_), Each(0xEE));
}

}  // namespace
}  // namespace mlmargin::runtime
