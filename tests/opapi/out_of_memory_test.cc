// SPDX-License-Identifier: Apache-2.0
// A row's list of labels that finds no memory: the stream reports it, and goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "opapi/gradient_run.h"
#include "opapi/loss_run.h"
#include "support/sanitizers.h"

// Sanitizers bring allocators of their own.
#ifndef MLMARGIN_SANITIZED

namespace {
// Large arrays are refused while this is set.
std::atomic<bool> refuse_large_arrays = false;
}  // namespace

void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  if (refuse_large_arrays && bytes > 1024) return nullptr;
  return std::malloc(bytes);
}
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void* operator new[](size_t bytes) {
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace mlmargin::testing {
namespace {

TEST(OutOfMemoryTest, TheStreamReportsItAndGoesOn) {
  const AclSession session;
  const Batch batch = MakeBatch(kFloat32, 2, 3'000, Density::kHalf, Spread::kOrdinary, 1);
  {
    const CallTensors tensors(batch, CallShape());
    const Planned planned = Plan(tensors, 0);
    ASSERT_EQ(planned.status, 0);
    const Workspace workspace(planned.workspace_bytes);
    refuse_large_arrays = true;
    EXPECT_EQ(aclnnMultilabelMarginLoss(workspace.data(), planned.workspace_bytes, planned.executor,
                                        nullptr),
              0);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 207001);
    refuse_large_arrays = false;
    EXPECT_THAT(TakeMessage(), ::testing::HasSubstr("no memory for the label list of a row"));
  }
  const Expected expected(batch);
  ExpectLosses(batch, expected.Losses(0), expected.mask(), RunLoss(batch, CallShape()), "after");
}

TEST(OutOfMemoryTest, TheStreamReportsItForTheGradientToo) {
  const AclSession session;
  const Batch batch = MakeBatch(kFloat32, 2, 3'000, Density::kHalf, Spread::kOrdinary, 1);
  const GradientShape shape;
  const GradientTensors tensors(batch, MakeGradOutputs(batch, shape, 2), shape);
  const Planned planned = Plan(tensors, 0);
  ASSERT_EQ(planned.status, 0);
  refuse_large_arrays = true;
  EXPECT_EQ(aclnnMultilabelMarginLossBackward(nullptr, 0, planned.executor, nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 207001);
  refuse_large_arrays = false;
  EXPECT_THAT(TakeMessage(), ::testing::HasSubstr("no memory for the label list of a row"));
}

}  // namespace
}  // namespace mlmargin::testing

#endif  // MLMARGIN_SANITIZED
