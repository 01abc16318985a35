// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/private_api.h"
#include "runtime/runtime_fixture.h"

namespace mlmargin::runtime {
namespace {

using testing::HasSubstr;

class MemoryTest : public DeviceSetTest {
 protected:
  static void* Malloc(size_t size, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST) {
    void* pointer = nullptr;
    EXPECT_EQ(aclrtMalloc(&pointer, size, policy), ACL_SUCCESS);
    return pointer;
  }
  static size_t FreeBytes() {
    size_t free = 0;
    size_t total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    EXPECT_LE(free, total);
    return free;
  }
};

// Public report: lm-sys/FastChat #2842, ggml-org/llama.cpp #16628, vllm-project/vllm-ascend #8679.
TEST(MemoryWithoutDeviceTest, MallocFailsUntouchedSaysWhyAndWorksAfterSetDevice) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  void* pointer = &pointer;
  EXPECT_EQ(aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(pointer, &pointer);
  EXPECT_THAT(TakeErrorText(), HasSubstr("no device or context is set"));
  size_t free = 1;
  size_t total = 2;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtMallocHost(&pointer, 64), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtFree(&pointer), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtMemset(&pointer, 8, 0, 8), ACL_ERROR_RT_CONTEXT_NULL);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMalloc(&pointer, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST_F(MemoryTest, BlocksBeginAtMultiplesOf64) {
  for (size_t size : std::vector<size_t>{1, 31, 32, 33, 63, 64, 65, 1000, 4097, 1 << 20, 5 << 20}) {
    void* const pointer = Malloc(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pointer) % 64, 0U) << size;
    std::memset(pointer, 0xA5, size);
    EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
  }
}

TEST_F(MemoryTest, LengthsAreRoundedUpTo32) {
  void* const pointer = Malloc(33);
  EXPECT_EQ(aclrtMemset(pointer, 64, 1, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(pointer, 65, 1, 65), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
}

TEST_F(MemoryTest, EveryPolicyServes) {
  for (int policy : {0, 1, 2, 3, 4, 5, 6, 7, 0x0100, 0x1000, 0x1002, 77}) {
    for (size_t size : {size_t{64}, size_t{3} << 20}) {
      void* const pointer = Malloc(size, Foreign<aclrtMemMallocPolicy>(policy));
      EXPECT_EQ(aclrtMemset(pointer, size, 0, size), ACL_SUCCESS) << policy;
      EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
    }
  }
}

TEST_F(MemoryTest, MemoryThatTheHostCannotWriteIsNotSupported) {
  void* pointer = this;
  EXPECT_EQ(aclrtMalloc(&pointer, 64, ACL_MEM_ACCESS_USER_SPACE_READONLY),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(pointer, this);
}

TEST_F(MemoryTest, Align32AndCachedGiveTheSameKindOfMemory) {
  void* pointer = nullptr;
  EXPECT_EQ(aclrtMallocAlign32(&pointer, 65, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(pointer, 96, 0, 96), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
  for (int policy : {0, 1, 2, 6}) {
    EXPECT_EQ(aclrtMallocCached(&pointer, 65, Foreign<aclrtMemMallocPolicy>(policy)), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
  }
  pointer = this;
  for (int policy : {3, 4, 5, 7, 0x1000, -1}) {
    EXPECT_EQ(aclrtMallocCached(&pointer, 65, Foreign<aclrtMemMallocPolicy>(policy)),
              ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(pointer, this);
}

TEST_F(MemoryTest, SizeZeroAndNullAreRefused) {
  void* pointer = this;
  EXPECT_EQ(aclrtMalloc(&pointer, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocAlign32(&pointer, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocCached(&pointer, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(pointer, this);
  EXPECT_EQ(aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocAlign32(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocCached(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(MemoryTest, MoreThanTheMachineHasIsOutOfMemory) {
  size_t free = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  void* pointer = this;
  for (size_t size : {free + 1, total + 1, SIZE_MAX / 2, SIZE_MAX - 31, SIZE_MAX - 30, SIZE_MAX}) {
    EXPECT_EQ(aclrtMalloc(&pointer, size, ACL_MEM_MALLOC_HUGE_FIRST),
              ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT_THAT(TakeErrorText(), HasSubstr(std::to_string(size)));
  }
  EXPECT_EQ(pointer, this);
  EXPECT_EQ(FreeBytes(), free);
}

TEST_F(MemoryTest, FreeBytesFollowTheAllocations) {
  const size_t before = FreeBytes();
  void* const first = Malloc(33);
  EXPECT_EQ(FreeBytes(), before - 64);
  void* const second = Malloc(1 << 20);
  EXPECT_EQ(FreeBytes(), before - 64 - (1 << 20));
  EXPECT_EQ(aclrtFree(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(second), ACL_SUCCESS);
  EXPECT_EQ(FreeBytes(), before);
}

TEST_F(MemoryTest, ASecondFreeIsAnErrorThatSaysSo) {
  void* const pointer = Malloc(64);
  EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(pointer), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("freed already"));
}

TEST_F(MemoryTest, ForeignInnerAndPinnedPointersAreNotFreed) {
  int local = 0;
  EXPECT_EQ(aclrtFree(&local), ACL_ERROR_RT_PARAM_INVALID);
  void* const block = Malloc(128);
  EXPECT_EQ(aclrtFree(static_cast<char*>(block) + 64), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("64 bytes into a block"));
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(pinned), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(TakeErrorText(), HasSubstr("aclrtFreeHost"));
  EXPECT_EQ(aclrtFreeHost(block), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(MemoryTest, AHolderKeepsAFreedBlockMappedButNewCallsRefuseIt) {
  const size_t before = FreeBytes();
  void* const pointer = Malloc(4096);
  std::memset(pointer, 7, 4096);
  std::shared_ptr<const Block> held = FindDeviceMemory(pointer, 4096);
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
  EXPECT_EQ(FindDeviceMemory(pointer, 1), nullptr);
  EXPECT_EQ(aclrtMemset(pointer, 4096, 0, 4096), ACL_SUCCESS);  // Now an ordinary address.
  EXPECT_EQ(static_cast<char*>(pointer)[4095], 0);
  EXPECT_LT(FreeBytes(), before);
  held.reset();
  EXPECT_EQ(FreeBytes(), before);
}

TEST_F(MemoryTest, LookUpWantsTheWholeRange) {
  char* const pointer = static_cast<char*>(Malloc(64));
  EXPECT_NE(FindDeviceMemory(pointer, 64), nullptr);
  EXPECT_NE(FindDeviceMemory(pointer, 0), nullptr);
  EXPECT_NE(FindDeviceMemory(pointer + 63, 1), nullptr);
  EXPECT_EQ(FindDeviceMemory(pointer + 64, 1), nullptr);
  EXPECT_EQ(FindDeviceMemory(pointer, 65), nullptr);
  EXPECT_EQ(FindDeviceMemory(pointer + 1, 64), nullptr);
  EXPECT_EQ(FindDeviceMemory(pointer - 1, 2), nullptr);
  EXPECT_EQ(FindDeviceMemory(pointer, SIZE_MAX), nullptr);
  EXPECT_EQ(FindDeviceMemory(nullptr, 1), nullptr);
  EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
}

TEST_F(MemoryTest, LookUpAgreesWithANaiveModel) {
  rc::check("live blocks", [] {
    struct Live {
      uintptr_t begin;
      size_t bytes;
    };
    std::vector<Live> live;
    const auto sizes = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(1, 5000));
    for (size_t size : sizes) {
      void* pointer = nullptr;
      RC_ASSERT(aclrtMalloc(&pointer, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
      live.push_back({reinterpret_cast<uintptr_t>(pointer), (size + 31) / 32 * 32});
      if (live.size() > 2 && *rc::gen::arbitrary<bool>()) {
        const size_t victim = *rc::gen::inRange<size_t>(0, live.size());
        RC_ASSERT(aclrtFree(reinterpret_cast<void*>(live[victim].begin)) == ACL_SUCCESS);
        live.erase(live.begin() + static_cast<ptrdiff_t>(victim));
      }
      const Live& near = live[*rc::gen::inRange<size_t>(0, live.size())];
      const uintptr_t first = near.begin + *rc::gen::inRange<size_t>(0, 6000) - 500;
      const size_t bytes = *rc::gen::inRange<size_t>(1, 200);
      bool inside = false;
      for (const Live& block : live) {
        inside |= first >= block.begin && first + bytes <= block.begin + block.bytes;
      }
      RC_ASSERT((FindDeviceMemory(reinterpret_cast<void*>(first), bytes) != nullptr) == inside);
    }
    for (const Live& block : live) {
      RC_ASSERT(aclrtFree(reinterpret_cast<void*>(block.begin)) == ACL_SUCCESS);
    }
  });
}

TEST_F(MemoryTest, MemInfoGivesZerosForKindsThatACpuLacks) {
  for (int attr : {0, 1, 2, 3, 4, 5, 12, 13}) {
    size_t free = 0;
    size_t total = 0;
    EXPECT_EQ(aclrtGetMemInfo(Foreign<aclrtMemAttr>(attr), &free, &total), ACL_SUCCESS);
    EXPECT_GT(free, 0U) << attr;
    EXPECT_GE(total, free) << attr;
  }
  for (int attr : {6, 7, 8, 9, 10, 11, 14, 15, 16, 17}) {
    size_t free = 1;
    size_t total = 1;
    EXPECT_EQ(aclrtGetMemInfo(Foreign<aclrtMemAttr>(attr), &free, &total), ACL_SUCCESS);
    EXPECT_EQ(free, 0U) << attr;
    EXPECT_EQ(total, 0U) << attr;
  }
  size_t bytes = 5;
  EXPECT_EQ(aclrtGetMemInfo(Foreign<aclrtMemAttr>(18), &bytes, &bytes), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &bytes), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &bytes, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(bytes, 5U);
}

TEST_F(MemoryTest, FlushAndInvalidateCheckTheirRange) {
  void* const pointer = Malloc(64);
  for (auto* call : {&aclrtMemFlush, &aclrtMemInvalidate}) {
    EXPECT_EQ(call(pointer, 64), ACL_SUCCESS);
    EXPECT_EQ(call(pointer, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(call(nullptr, 64), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(call(pointer, 65), ACL_ERROR_RT_PARAM_INVALID);
    int local = 0;
    EXPECT_EQ(call(&local, 4), ACL_ERROR_RT_PARAM_INVALID);
  }
  EXPECT_EQ(aclrtFree(pointer), ACL_SUCCESS);
}

TEST_F(MemoryTest, ManyThreadsMayAllocateAndFree) {
  const size_t before = FreeBytes();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<void*> blocks;
      for (int i = 0; i < 2000; ++i) {
        if (blocks.size() > 16) {
          ASSERT_EQ(aclrtFree(blocks.back()), ACL_SUCCESS);
          blocks.pop_back();
        }
        const size_t size = 1 + random() % 3000;
        blocks.push_back(Malloc(size));
        ASSERT_EQ(aclrtMemset(blocks.back(), size, t, size), ACL_SUCCESS);
        ASSERT_NE(FindDeviceMemory(blocks.front(), 1), nullptr);
      }
      for (void* block : blocks) ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(FreeBytes(), before);
}

TEST_F(MemoryTest, OfTwoRacingFreesOneSucceeds) {
  for (int i = 0; i < 200; ++i) {
    void* const pointer = Malloc(64);
    aclError other = -1;
    std::thread thread([&] {
      aclrtSetDevice(0);
      other = aclrtFree(pointer);
    });
    const aclError mine = aclrtFree(pointer);
    thread.join();
    EXPECT_TRUE((mine == ACL_SUCCESS) != (other == ACL_SUCCESS));
  }
}

TEST_F(MemoryTest, CallsGoodAndBadDoNotGrowMemory) {
  const auto calls = [](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(aclrtFree(Malloc(static_cast<size_t>(1 + i % 10000))), ACL_SUCCESS);
      if (i % 8 == 0) {
        ASSERT_EQ(aclrtFree(&count), ACL_ERROR_RT_PARAM_INVALID);
      }
    }
  };
  calls(2000);
  const size_t before = ResidentBytes();
  calls(100000);
  EXPECT_LT(ResidentBytes(), before + kGrowthNoiseBytes);
}

}  // namespace
}  // namespace mlmargin::runtime
