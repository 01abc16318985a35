// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/private_api.h"
#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {
namespace {

constexpr size_t kPage = 4096;

class HostMemoryTest : public DeviceSetTest {
 protected:
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  using Pages = std::unique_ptr<char, Free>;

  static Pages MakePages(size_t count) {
    return Pages(static_cast<char*>(std::aligned_alloc(kPage, count * kPage)));
  }
  static aclrtPtrAttributes Attributes(const void* pointer) {
    aclrtPtrAttributes attributes;
    std::memset(&attributes, 0xFF, sizeof(attributes));
    EXPECT_EQ(aclrtPointerGetAttributes(pointer, &attributes), ACL_SUCCESS);
    return attributes;
  }
};

TEST_F(HostMemoryTest, PinnedMemoryIsAlignedAndOurs) {
  for (size_t size : std::vector<size_t>{1, 63, 64, 65, 4097, 3 << 20}) {
    void* pointer = nullptr;
    ASSERT_EQ(aclrtMallocHost(&pointer, size), ACL_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pointer) % 64, 0U);
    std::memset(pointer, 1, size);
    EXPECT_EQ(FindDeviceMemory(pointer, 1), nullptr);
    EXPECT_EQ(aclrtFreeHost(pointer), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(pointer), ACL_ERROR_RT_PARAM_INVALID);
  }
}

TEST_F(HostMemoryTest, PinnedMemoryRefusesZeroNullAndTooMuch) {
  void* pointer = this;
  EXPECT_EQ(aclrtMallocHost(&pointer, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(nullptr, 64), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(&pointer, SIZE_MAX), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(pointer, this);
  EXPECT_EQ(aclrtFreeHost(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFreeHost(&pointer), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(HostMemoryTest, RegisteredMemoryIsDeviceMemoryUntilUnregistered) {
  const Pages pages = MakePages(2);
  void* device = nullptr;
  ASSERT_EQ(aclrtHostRegister(pages.get(), 2 * kPage, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_SUCCESS);
  EXPECT_NE(FindDeviceMemory(device, 2 * kPage), nullptr);
  EXPECT_EQ(FindDeviceMemory(device, 2 * kPage + 1), nullptr);
  void* again = nullptr;
  EXPECT_EQ(aclrtHostGetDevicePointer(pages.get(), &again, 0), ACL_SUCCESS);
  EXPECT_EQ(again, device);
  EXPECT_EQ(aclrtHostUnregister(pages.get()), ACL_SUCCESS);
  EXPECT_EQ(FindDeviceMemory(device, 1), nullptr);
  EXPECT_EQ(aclrtHostUnregister(pages.get()), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(HostMemoryTest, RegisteringTwiceOrOverlappingIsAnError) {
  const Pages pages = MakePages(4);
  void* device = nullptr;
  ASSERT_EQ(aclrtHostRegister(pages.get() + kPage, 2 * kPage, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_SUCCESS);
  device = this;
  for (size_t first : std::vector<size_t>{0, 1, 2}) {
    EXPECT_EQ(aclrtHostRegister(pages.get() + first * kPage, 2 * kPage, ACL_HOST_REGISTER_MAPPED,
                                &device),
              ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  }
  EXPECT_EQ(device, this);
  EXPECT_EQ(aclrtHostRegister(pages.get() + 3 * kPage, kPage, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtHostRegister(pages.get(), kPage, ACL_HOST_REGISTER_MAPPED, &device), ACL_SUCCESS);
  for (size_t first : std::vector<size_t>{0, 1, 3}) {
    EXPECT_EQ(aclrtHostUnregister(pages.get() + first * kPage), ACL_SUCCESS);
  }
}

TEST_F(HostMemoryTest, RegisteringRefusesBadArguments) {
  const Pages pages = MakePages(1);
  void* device = this;
  EXPECT_EQ(aclrtHostRegister(nullptr, kPage, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostRegister(pages.get(), kPage, ACL_HOST_REGISTER_MAPPED, nullptr),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostRegister(pages.get(), 0, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostRegister(pages.get() + 64, kPage, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegister(pages.get(), UINT64_MAX, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegister(pages.get(), kPage, ACL_HOST_REGISTER_IOMEMORY, &device),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtHostRegister(pages.get(), kPage, ACL_HOST_REGISTER_READONLY, &device),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtHostRegister(pages.get(), kPage, Foreign<aclrtHostRegisterType>(1), &device),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(device, this);
  EXPECT_EQ(aclrtHostUnregister(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostUnregister(pages.get()), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(HostMemoryTest, MemoryOfOursCannotBeRegistered) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 4 * kPage, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  char* const page =
      reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(block) + kPage - 1) / kPage * kPage);
  void* device = nullptr;
  EXPECT_EQ(aclrtHostRegister(page, kPage, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegister(page - kPage, 2 * kPage, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(HostMemoryTest, ARegistrationGoesWithItsDevice) {
  const Pages pages = MakePages(1);
  void* device = nullptr;
  ASSERT_EQ(aclrtHostRegister(pages.get(), kPage, ACL_HOST_REGISTER_MAPPED, &device), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostRegister(pages.get(), kPage, ACL_HOST_REGISTER_MAPPED, &device), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(pages.get()), ACL_SUCCESS);
}

TEST_F(HostMemoryTest, DevicePointerWantsRegisteredMemoryAndFlagZero) {
  const Pages pages = MakePages(1);
  void* device = this;
  EXPECT_EQ(aclrtHostGetDevicePointer(pages.get(), &device, 0),
            ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(aclrtHostGetDevicePointer(pages.get(), &device, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostGetDevicePointer(nullptr, &device, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostGetDevicePointer(pages.get(), nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(device, this);
}

TEST_F(HostMemoryTest, AttributesTellDeviceHostAndUnregistered) {
  void* block = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  const aclrtPtrAttributes device = Attributes(static_cast<char*>(block) + 63);
  EXPECT_EQ(device.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(device.location.id, 0U);
  EXPECT_GT(device.pageSize, 0U);
  for (uint32_t reserved : device.rsv) EXPECT_EQ(reserved, 0U);
  EXPECT_EQ(Attributes(pinned).location.type, ACL_MEM_LOCATION_TYPE_HOST);
  int local = 0;
  EXPECT_EQ(Attributes(&local).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  EXPECT_EQ(Attributes(block).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  aclrtPtrAttributes attributes;
  EXPECT_EQ(aclrtPointerGetAttributes(nullptr, &attributes), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtPointerGetAttributes(&local, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(HostMemoryTest, ManyThreadsMayRegister) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const Pages pages = MakePages(1);
      for (int i = 0; i < 500; ++i) {
        void* device = nullptr;
        ASSERT_EQ(aclrtHostRegister(pages.get(), kPage, ACL_HOST_REGISTER_MAPPED, &device),
                  ACL_SUCCESS);
        ASSERT_NE(FindDeviceMemory(device, kPage), nullptr);
        ASSERT_EQ(aclrtHostUnregister(pages.get()), ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace mlmargin::runtime
