// SPDX-License-Identifier: Apache-2.0
// A program that loads the libraries and lets them go again and again, as a plug-in host does.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "acl/acl.h"
#include "runtime/runtime_fixture.h"
#include "support/threads.h"

namespace mlmargin::runtime {
namespace {

struct Footprint {
  size_t resident_bytes = 0;
  int threads = 0;
  int64_t mappings = 0;
};

Footprint FootprintNow() {
  std::ifstream maps("/proc/self/maps");
  return {ResidentBytes(), mlmargin::testing::NumThreads(),
          std::count(std::istreambuf_iterator<char>(maps), {}, '\n')};
}

template <typename Function>
Function* Symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Work on a stream between loading and letting go.
void LoadAndUse() {
  void* const library = dlopen(MLMARGIN_OPAPI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  ASSERT_EQ(Symbol<decltype(aclInit)>(library, "aclInit")(nullptr), 0);
  ASSERT_EQ(Symbol<decltype(aclrtSetDevice)>(library, "aclrtSetDevice")(0), 0);
  void* memory = nullptr;
  ASSERT_EQ(Symbol<decltype(aclrtMalloc)>(library, "aclrtMalloc")(&memory, 4096, {}), 0);
  ASSERT_EQ(Symbol<decltype(aclrtMemsetAsync)>(library, "aclrtMemsetAsync")(memory, 4096, 7, 4096,
                                                                            nullptr),
            0);
  ASSERT_EQ(Symbol<decltype(aclrtSynchronizeStream)>(library, "aclrtSynchronizeStream")(nullptr),
            0);
  EXPECT_EQ(*static_cast<char*>(memory), 7);
  EXPECT_NE(Symbol<decltype(aclrtFree)>(library, "aclrtFree")(nullptr), 0);
  EXPECT_NE(Symbol<decltype(aclGetRecentErrMsg)>(library, "aclGetRecentErrMsg")(), nullptr);
  ASSERT_EQ(Symbol<decltype(aclFinalize)>(library, "aclFinalize")(), 0);
  ASSERT_EQ(dlclose(library), 0);
}

TEST(LibraryLoadTest, AThousandLoadsLeaveNothingBehind) {
  for (int i = 0; i < 50; ++i) LoadAndUse();
  const Footprint before = FootprintNow();
  for (int i = 0; i < 1000; ++i) LoadAndUse();
  // The last workers end a little later.
  Footprint after = FootprintNow();
  for (int i = 0; i < 500 && after.threads > 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    after = FootprintNow();
  }
#ifdef MLMARGIN_TSAN
  EXPECT_LE(after.threads, 2);  // One is the sanitizer's.
#else
  EXPECT_EQ(after.threads, 1);
#endif
  EXPECT_LT(after.resident_bytes, before.resident_bytes + kGrowthNoiseBytes);
  EXPECT_LT(after.mappings, before.mappings + 64);  // Stacks that are kept, arenas of the heap.
}

}  // namespace
}  // namespace mlmargin::runtime
