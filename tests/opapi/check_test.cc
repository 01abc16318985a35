// SPDX-License-Identifier: Apache-2.0
// Phase 1's checks: each one's code, its message, and that nothing is written or handed out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opapi/loss_run.h"
#include "opapi/tensor_spec.h"

namespace mlmargin::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Call {
  Spec self{{2, 3}};
  Spec target{{2, 3}, ACL_INT64};
  Spec out{{2}};
  Spec is_target{{2, 3}};
  int64_t reduction = 0;
};

class CheckTest : public ::testing::Test {
 protected:
  // Phase 1 of the call; an executor that comes out is destroyed.
  aclnnStatus Run(const Call& call) {
    aclTensor* const tensors[] = {Make(call.self), Make(call.target), Make(call.out),
                                  Make(call.is_target)};
    for (aclTensor* tensor : tensors) EXPECT_NE(tensor, nullptr) << TakeMessage();
    aclOpExecutor* const stale = reinterpret_cast<aclOpExecutor*>(uintptr_t{0x1234});
    aclOpExecutor* executor = stale;
    uint64_t bytes = 77;
    const aclnnStatus status = aclnnMultilabelMarginLossGetWorkspaceSize(
        tensors[0], tensors[1], call.reduction, tensors[2], tensors[3], &bytes, &executor);
    message_ = TakeMessage();
    if (status == 0) {
      EXPECT_NE(executor, nullptr);
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    } else {
      EXPECT_EQ(executor, nullptr);
      EXPECT_EQ(bytes, 77u);
      EXPECT_THAT(message_, StartsWith("[PID: "));
      EXPECT_THAT(message_, ContainsRegex("AclNN_Parameter_Error\\(EZ1001\\): "));
      EXPECT_THAT(message_, HasSubstr("aclnnMultilabelMarginLossGetWorkspaceSize"));
    }
    for (aclTensor* tensor : tensors) EXPECT_EQ(aclDestroyTensor(tensor), 0);
    return status;
  }

  void ExpectInvalid(const Call& call, const std::string& argument, const std::string& expected,
                     const std::string& got) {
    EXPECT_EQ(Run(call), 161002);
    EXPECT_THAT(message_, AllOf(HasSubstr(argument + ":"), HasSubstr(expected), HasSubstr(got)));
  }

  void ExpectValid(const Call& call) { EXPECT_EQ(Run(call), 0) << message_; }

  AclSession session_;
  std::string message_;
};

TEST_F(CheckTest, NullPointersComeFirstInOrder) {
  const Call call;
  aclTensor* const self = Make(call.self);
  aclTensor* const target = Make(Spec{{2, 3}, ACL_FLOAT});  // Wrong too, but null comes first.
  aclTensor* const out = Make(call.out);
  aclTensor* const mask = Make(call.is_target);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  const auto run = aclnnMultilabelMarginLossGetWorkspaceSize;
  EXPECT_EQ(run(nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr("workspaceSize"));
  EXPECT_EQ(run(nullptr, nullptr, 0, nullptr, nullptr, &bytes, nullptr), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr("executor"));
  EXPECT_EQ(run(nullptr, target, 0, out, mask, &bytes, &executor), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr("self"));
  EXPECT_EQ(run(self, nullptr, 0, out, mask, &bytes, &executor), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr("target"));
  EXPECT_EQ(run(self, target, 0, nullptr, mask, &bytes, &executor), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr("out"));
  EXPECT_EQ(run(self, target, 0, out, nullptr, &bytes, &executor), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr("isTarget"));
  // Of several null tensors the first one is named.
  EXPECT_EQ(run(nullptr, nullptr, 0, nullptr, nullptr, &bytes, &executor), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr(": self:"));
  EXPECT_EQ(run(self, nullptr, 0, nullptr, nullptr, &bytes, &executor), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr(": target:"));
  EXPECT_EQ(run(self, target, 0, nullptr, nullptr, &bytes, &executor), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr(": out:"));
  EXPECT_EQ(executor, nullptr);
  for (aclTensor* tensor : {self, target, out, mask}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
  // A stale tensor is no crash, and a null one still comes first.
  EXPECT_EQ(run(self, nullptr, 0, out, mask, &bytes, &executor), 161001);
  EXPECT_EQ(run(self, target, 0, out, mask, &bytes, &executor), 161002);
  EXPECT_THAT(TakeMessage(), HasSubstr("self"));
}

TEST_F(CheckTest, DataTypesMustFit) {
  Call call;
  for (const aclDataType dtype : {ACL_DOUBLE, ACL_INT32, ACL_BOOL}) {
    call.self.dtype = dtype;
    ExpectInvalid(call, "self", "FLOAT, FLOAT16 or BF16", "got ");
  }
  call = Call();
  for (const aclDataType dtype : {ACL_FLOAT, ACL_INT8, ACL_UINT64}) {
    call.target.dtype = dtype;
    ExpectInvalid(call, "target", "INT32 or INT64", "got ");
  }
  call = Call();
  call.out.dtype = ACL_FLOAT16;
  ExpectInvalid(call, "out", "FLOAT", "got FLOAT16");
  call = Call();
  call.self.dtype = call.out.dtype = ACL_FLOAT16;
  call.is_target.dtype = ACL_INT32;
  ExpectInvalid(call, "isTarget", "FLOAT16", "got INT32");
}

TEST_F(CheckTest, EveryPermittedPairOfTypesPasses) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    for (const aclDataType target : {ACL_INT32, ACL_INT64}) {
      Call call;
      call.self.dtype = call.out.dtype = call.is_target.dtype = dtype;
      call.target.dtype = target;
      ExpectValid(call);
    }
  }
}

TEST_F(CheckTest, SelfIsOfRankZeroToTwoWithAtLeastOneClass) {
  Call call;
  call.self.shape = {1, 2, 3};
  ExpectInvalid(call, "self", "rank", "got 3");
  call = Call();
  call.self.shape = {4, 4, 4};
  call.target.shape = {4, 4};
  ExpectInvalid(call, "self", "rank", "(4, 4, 4)");
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{3, 0}, std::vector<int64_t>{0, 0}, std::vector<int64_t>{0}}) {
    call = Call();
    call.self.shape = call.target.shape = call.is_target.shape = shape;
    ExpectInvalid(call, "self", "at least one class", "got shape");
  }
}

TEST_F(CheckTest, TargetHasTheShapeOfSelf) {
  const auto refused = [&](std::vector<int64_t> self, std::vector<int64_t> target) {
    Call call;
    call.self.shape = std::move(self);
    call.target.shape = call.is_target.shape = std::move(target);
    ExpectInvalid(call, "target", "shape", "got (");
  };
  refused({2, 3}, {2, 2});
  refused({2, 3}, {3, 3});
  refused({1, 3}, {3});
  refused({3}, {1, 3});
  refused({}, {2});
  refused({1}, {1, 1});
  refused({2, 3}, {2, 3, 1});
}

TEST_F(CheckTest, ZeroAndOneDimensionalTensorsOfOneElementMix) {
  for (const std::vector<int64_t>& self : {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
    for (const std::vector<int64_t>& target : {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
      for (const std::vector<int64_t>& out : {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
        Call call;
        call.self.shape = self;
        call.target.shape = call.is_target.shape = target;
        call.out.shape = out;
        ExpectValid(call);
      }
    }
  }
}

TEST_F(CheckTest, MaskHasTheShapeOfTargetExactly) {
  Call call;
  call.is_target.shape = {3, 2};
  ExpectInvalid(call, "isTarget", "(2, 3)", "got (3, 2)");
  call.is_target.shape = {6};
  ExpectInvalid(call, "isTarget", "(2, 3)", "got (6)");
  call.self.shape = {};
  call.target.shape = {1};
  call.is_target.shape = {};
  call.out.shape = {};
  ExpectInvalid(call, "isTarget", "(1)", "got ()");
}

TEST_F(CheckTest, OutFitsTheReduction) {
  Call call;
  call.out.shape = {3};
  ExpectInvalid(call, "out", "(2)", "got (3)");
  call.out.shape = {};
  ExpectInvalid(call, "out", "(2)", "got ()");
  call.out.shape = {2, 1};
  ExpectInvalid(call, "out", "(2)", "got (2, 1)");
  for (const int64_t reduction : {1, 2}) {
    call.reduction = reduction;
    call.out.shape = {2};
    ExpectInvalid(call, "out", "() or (1)", "got (2)");
    call.out.shape = {1, 1};
    ExpectInvalid(call, "out", "() or (1)", "got (1, 1)");
    for (const std::vector<int64_t>& out : {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
      call.out.shape = out;
      ExpectValid(call);
    }
  }
  call = Call();
  call.self.shape = call.target.shape = call.is_target.shape = {3};
  call.out.shape = {3};
  ExpectInvalid(call, "out", "() or (1)", "got (3)");
}

TEST_F(CheckTest, AnEmptyBatchPassesWithAnyEmptyMask) {
  for (const int64_t reduction : {0, 1, 2}) {
    for (const std::vector<int64_t>& mask :
         {std::vector<int64_t>{0, 3}, std::vector<int64_t>{0}, std::vector<int64_t>{5, 0}}) {
      Call call;
      call.self.shape = call.target.shape = {0, 3};
      call.is_target.shape = mask;
      call.out.shape = {reduction == 0 ? 0 : 1};
      call.reduction = reduction;
      ExpectValid(call);
    }
  }
  Call call;
  call.self.shape = call.target.shape = {0, 3};
  call.out.shape = {0};
  call.is_target.shape = {0, 1, 1};
  ExpectInvalid(call, "isTarget", "empty", "got shape (0, 1, 1)");
  call.is_target.shape = {1};
  ExpectInvalid(call, "isTarget", "empty", "got shape (1)");
}

TEST_F(CheckTest, StridesAndOffsetsOfEmptyViewsAreNotLookedAt) {
  Call call;
  call.self.shape = call.target.shape = call.is_target.shape = {0, 3};
  call.self.strides = call.target.strides = call.is_target.strides = {INT64_MAX, INT64_MAX};
  call.out.shape = {0};
  call.out.strides = {INT64_MAX};
  ExpectValid(call);
}

TEST_F(CheckTest, PlainFormatsPassAndTheOthersAreNamed) {
  for (const aclFormat format :
       {ACL_FORMAT_ND, ACL_FORMAT_NC, ACL_FORMAT_NCL, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC,
        ACL_FORMAT_HWCN, ACL_FORMAT_NCDHW, ACL_FORMAT_NDHWC}) {
    Call call;
    call.self.format = call.target.format = call.out.format = call.is_target.format = format;
    ExpectValid(call);
  }
  Call call;
  call.target.format = ACL_FORMAT_FRACTAL_NZ;
  ExpectInvalid(call, "target", "ND", "got aclFormat(29)");
}

TEST_F(CheckTest, AViewOutsideItsStorageIsRefused) {
  Call call;
  const std::string expected = "inside its storage";
  call.self.storage = {5};
  ExpectInvalid(call, "self", expected, "(5)");
  call = Call();
  call.target.offset = 59;
  ExpectInvalid(call, "target", expected, "(64)");
  call = Call();
  call.out.strides = {64};
  ExpectInvalid(call, "out", expected, "(64)");
  call = Call();
  call.is_target.strides = {INT64_MAX, 1};
  ExpectInvalid(call, "isTarget", "2^63 - 1 bytes", std::to_string(INT64_MAX));
}

TEST_F(CheckTest, StridesOfSingleElementsAreNotLookedAt) {
  Call call;
  call.self.shape = call.target.shape = call.is_target.shape = {1, 3};
  call.self.strides = call.target.strides = call.is_target.strides = {INT64_MAX, 1};
  call.out.shape = {1};
  call.out.strides = {INT64_MAX};
  ExpectValid(call);
}

TEST_F(CheckTest, OutputsMustNotRepeatElements) {
  Call call;
  call.is_target.strides = {0, 1};
  ExpectInvalid(call, "isTarget", "no two elements", "(0, 1)");
  call.is_target.strides = {2, 1};
  ExpectInvalid(call, "isTarget", "no two elements", "(2, 1)");
  call.is_target.strides = {3, 2};  // (0, 0) (0, 2) (0, 4) (1, 3) (1, 5) (1, 7): none twice.
  ExpectValid(call);
  call = Call();
  call.out.strides = {0};
  ExpectInvalid(call, "out", "no two elements", "(0)");
}

TEST_F(CheckTest, SharedMemoryIsRefusedAndInterleavedIsNot) {
  DeviceTensor buffer(View{{64}, {1}, 0}, ACL_FLOAT);
  const auto at = [&](int64_t element) {
    return static_cast<void*>(static_cast<float*>(buffer.data()) + element);
  };
  Call call;
  call.self.data = at(0);
  call.is_target.data = at(5);
  ExpectInvalid(call, "isTarget", "must not share memory with self", "0x");
  call.is_target.data = at(6);
  ExpectValid(call);
  call.out.data = at(11);
  ExpectInvalid(call, "isTarget", "must not share memory with out", "0x");
  call.out.data = static_cast<char*>(at(12)) - 1;  // One byte is enough.
  ExpectInvalid(call, "isTarget", "must not share memory with out", "0x");
  call.out.data = at(12);
  ExpectValid(call);
  call.target.data = at(13);
  ExpectInvalid(call, "out", "must not share memory with target", "0x");
}

TEST_F(CheckTest, UnknownReductionsAreRefusedAfterEverythingElse) {
  for (const int64_t reduction : {int64_t{-1}, int64_t{3}, INT64_MAX, INT64_MIN}) {
    Call call;
    call.reduction = reduction;
    ExpectInvalid(call, "reduction", "0 (none), 1 (mean) or 2 (sum)", std::to_string(reduction));
    call.self.dtype = ACL_DOUBLE;
    ExpectInvalid(call, "self", "FLOAT", "DOUBLE");
  }
}

TEST_F(CheckTest, NullDataPassesPhaseOne) { ExpectValid(Call()); }

}  // namespace
}  // namespace mlmargin::testing
