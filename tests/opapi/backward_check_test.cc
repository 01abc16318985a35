// SPDX-License-Identifier: Apache-2.0
// Phase 1's checks of the gradient's operator: each one's code and message, their order, and that
// nothing is written or handed out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "opapi/gradient_run.h"
#include "opapi/tensor_spec.h"

namespace mlmargin::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Shape = std::vector<int64_t>;

constexpr char kPhase1[] = "aclnnMultilabelMarginLossBackwardGetWorkspaceSize";

struct Call {
  Spec grad_output{{2}};
  Spec self{{2, 3}};
  Spec target{{2, 3}, ACL_INT64};
  Spec is_target{{2, 3}};
  Spec grad_input{{2, 3}};
  int64_t reduction = 0;

  void SetShapes(const Shape& shape) {
    self.shape = target.shape = is_target.shape = grad_input.shape = shape;
  }
};

class BackwardCheckTest : public ::testing::Test {
 protected:
  // Phase 1 of the call; an executor that comes out is destroyed.
  aclnnStatus Run(const Call& call) {
    aclTensor* const tensors[] = {Make(call.grad_output), Make(call.self), Make(call.target),
                                  Make(call.is_target), Make(call.grad_input)};
    for (aclTensor* tensor : tensors) EXPECT_NE(tensor, nullptr) << TakeMessage();
    aclOpExecutor* executor = reinterpret_cast<aclOpExecutor*>(uintptr_t{0x1234});
    uint64_t bytes = 77;
    const aclnnStatus status = aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
        tensors[0], tensors[1], tensors[2], call.reduction, tensors[3], tensors[4], &bytes,
        &executor);
    message_ = TakeMessage();
    if (status == 0) {
      EXPECT_EQ(bytes, 0u);
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    } else {
      EXPECT_EQ(executor, nullptr);
      EXPECT_EQ(bytes, 77u);
      EXPECT_THAT(message_, StartsWith("[PID: "));
      EXPECT_THAT(message_, ContainsRegex("AclNN_Parameter_Error\\(EZ1001\\): "));
    }
    for (aclTensor* tensor : tensors) EXPECT_EQ(aclDestroyTensor(tensor), 0);
    return status;
  }

  // `text` is all of the message behind the function's name.
  void ExpectInvalid(const Call& call, const std::string& text) {
    EXPECT_EQ(Run(call), 161002);
    EXPECT_THAT(message_, HasSubstr(std::string(kPhase1) + ": " + text + "\n"));
  }
  // The same for a text that ends in something else.
  void ExpectInvalidPart(const Call& call, const std::string& text) {
    EXPECT_EQ(Run(call), 161002);
    EXPECT_THAT(message_, HasSubstr(std::string(kPhase1) + ": " + text));
  }
  void ExpectValid(const Call& call) { EXPECT_EQ(Run(call), 0) << message_; }

  AclSession session_;
  std::string message_;
};

TEST_F(BackwardCheckTest, NullPointersComeFirstInOrder) {
  const Call call;
  const char* const names[] = {"gradOutput", "self", "target", "isTarget", "gradInput"};
  // The wrong type comes later than any null.
  std::array<aclTensor*, 5> tensors = {Make(call.grad_output), Make(call.self),
                                       Make(Spec{{2, 3}, ACL_FLOAT}), Make(call.is_target),
                                       Make(call.grad_input)};
  uint64_t bytes = 77;
  aclOpExecutor* executor = nullptr;
  const auto run = [&](const std::array<aclTensor*, 5>& t, uint64_t* size, aclOpExecutor** out) {
    return aclnnMultilabelMarginLossBackwardGetWorkspaceSize(t[0], t[1], t[2], 0, t[3], t[4], size,
                                                             out);
  };
  const auto text = [](const std::string& name) {
    return std::string(kPhase1) + ": " + name + ": must not be null, got null\n";
  };
  EXPECT_EQ(run({}, nullptr, nullptr), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr(text("workspaceSize")));
  EXPECT_EQ(run({}, &bytes, nullptr), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr(text("executor")));
  for (size_t i = 0; i < 5; ++i) {
    std::array<aclTensor*, 5> one_null = tensors;
    one_null[i] = nullptr;
    executor = reinterpret_cast<aclOpExecutor*>(uintptr_t{0x1234});
    EXPECT_EQ(run(one_null, &bytes, &executor), 161001);
    EXPECT_THAT(TakeMessage(), HasSubstr(text(names[i])));
    EXPECT_EQ(executor, nullptr);
    // Of several null tensors the first one is named.
    for (size_t k = i; k < 5; ++k) one_null[k] = nullptr;
    EXPECT_EQ(run(one_null, &bytes, &executor), 161001);
    EXPECT_THAT(TakeMessage(), HasSubstr(text(names[i])));
  }
  EXPECT_EQ(bytes, 77u);
  for (aclTensor* tensor : tensors) EXPECT_EQ(aclDestroyTensor(tensor), 0);
  // A stale tensor is no crash, and a null one still comes first.
  EXPECT_EQ(run(tensors, &bytes, &executor), 161002);
  EXPECT_THAT(TakeMessage(), HasSubstr(": gradOutput:"));
  tensors[4] = nullptr;
  EXPECT_EQ(run(tensors, &bytes, &executor), 161001);
  EXPECT_THAT(TakeMessage(), HasSubstr(text("gradInput")));
}

TEST_F(BackwardCheckTest, DataTypesMustFit) {
  Call call;
  call.self.dtype = ACL_DOUBLE;
  ExpectInvalid(call, "self: its data type must be FLOAT, FLOAT16 or BF16, got DOUBLE");
  call = Call();
  call.target.dtype = ACL_FLOAT;
  ExpectInvalid(call, "target: its data type must be INT32 or INT64, got FLOAT");
  call = Call();
  call.grad_output.dtype = ACL_FLOAT16;
  ExpectInvalid(call, "gradOutput: its data type must be that of self, FLOAT, got FLOAT16");
  call = Call();
  call.is_target.dtype = ACL_INT64;
  ExpectInvalid(call, "isTarget: its data type must be that of self, FLOAT, got INT64");
  call = Call();
  call.grad_input.dtype = ACL_DOUBLE;
  ExpectInvalid(call, "gradInput: its data type must be that of self, FLOAT, got DOUBLE");
}

TEST_F(BackwardCheckTest, EveryPermittedPairOfTypesPasses) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    for (const aclDataType target : {ACL_INT32, ACL_INT64}) {
      Call call;
      call.grad_output.dtype = call.self.dtype = dtype;
      call.is_target.dtype = call.grad_input.dtype = dtype;
      call.target.dtype = target;
      ExpectValid(call);
    }
  }
}

TEST_F(BackwardCheckTest, ShapesMustFit) {
  Call call;
  call.self.shape = {1, 2, 3};
  ExpectInvalid(call,
                "self: its rank must be 0, 1 or 2, (C) or (N, C), got 3 with shape (1, 2, 3)");
  for (const Shape& shape : {Shape{3, 0}, Shape{0, 0}, Shape{0}}) {
    call = Call();
    call.SetShapes(shape);
    ExpectInvalidPart(call, "self: it must have at least one class (C >= 1), got shape (");
  }
  call = Call();
  call.target.shape = {2, 2};
  ExpectInvalid(call, "target: its shape must be that of self, (2, 3), got (2, 2)");
  call = Call();
  call.is_target.shape = {1, 2};
  ExpectInvalid(call, "isTarget: its shape must be that of target, (2, 3), got (1, 2)");
  for (const Shape& shape : {Shape{3, 2}, Shape{6}, Shape{2, 3, 1}, Shape{}}) {
    call = Call();
    call.grad_input.shape = shape;
    ExpectInvalidPart(call, "gradInput: its shape must be that of self, (2, 3), got (");
  }
}

TEST_F(BackwardCheckTest, GradOutputFitsTheReduction) {
  Call call;
  for (const Shape& shape : {Shape{3}, Shape{1}, Shape{}, Shape{2, 1}, Shape{2, 3}}) {
    call.grad_output.shape = shape;
    ExpectInvalidPart(
        call,
        "gradOutput: for reduction 0 (none) and self of shape (2, 3) its shape must be (2), got (");
  }
  for (const int64_t reduction : {1, 2}) {
    call.reduction = reduction;
    for (const Shape& shape : {Shape{2}, Shape{0}, Shape{1, 1}}) {
      call.grad_output.shape = shape;
      ExpectInvalidPart(call, "gradOutput: for reduction " + std::to_string(reduction) +
                                  " and self of shape (2, 3) its shape must be () or (1), got (");
    }
    for (const Shape& shape : {Shape{}, Shape{1}}) {
      call.grad_output.shape = shape;
      ExpectValid(call);
    }
  }
  call = Call();
  call.SetShapes({3});
  call.grad_output.shape = {3};
  ExpectInvalid(
      call,
      "gradOutput: for reduction 0 and self of shape (3) its shape must be () or (1), got (3)");
  call.grad_output.shape = {1};
  ExpectValid(call);
}

TEST_F(BackwardCheckTest, ZeroAndOneDimensionalTensorsOfOneElementMix) {
  const Shape shapes[] = {{}, {1}};
  for (int bits = 0; bits < 16; ++bits) {
    Call call;
    call.self.shape = shapes[bits & 1];
    call.target.shape = call.is_target.shape = shapes[bits >> 1 & 1];
    call.grad_output.shape = shapes[bits >> 2 & 1];
    call.grad_input.shape = shapes[bits >> 3 & 1];
    ExpectValid(call);
  }
}

TEST_F(BackwardCheckTest, AnEmptyBatchPassesWithAnyEmptyMask) {
  for (const int64_t reduction : {0, 1, 2}) {
    for (const Shape& mask : {Shape{0, 3}, Shape{0}, Shape{5, 0}}) {
      Call call;
      call.SetShapes({0, 3});
      call.is_target.shape = mask;
      call.grad_output.shape = {reduction == 0 ? 0 : 1};
      call.reduction = reduction;
      ExpectValid(call);
    }
  }
  Call call;
  call.SetShapes({0, 3});
  call.grad_output.shape = {0};
  call.is_target.shape = {1};
  ExpectInvalid(call,
                "isTarget: for an empty batch it must be empty and of at most 2 dimensions, got "
                "shape (1)");
  call.SetShapes({0, 3});
  call.grad_input.shape = {0, 2};
  ExpectInvalid(call, "gradInput: its shape must be that of self, (0, 3), got (0, 2)");
}

TEST_F(BackwardCheckTest, PlainFormatsPassAndTheOthersAreNamed) {
  Spec Call::*const specs[] = {&Call::grad_output, &Call::self, &Call::target, &Call::is_target,
                               &Call::grad_input};
  const std::string names[] = {"gradOutput", "self", "target", "isTarget", "gradInput"};
  for (size_t i = 0; i < std::size(specs); ++i) {
    Call call;
    (call.*specs[i]).format = ACL_FORMAT_NCHW;
    ExpectValid(call);
    (call.*specs[i]).format = ACL_FORMAT_FRACTAL_NZ;
    ExpectInvalid(call, names[i] +
                            ": its format must be ND, NC, NCL, NCHW, NHWC, HWCN, NCDHW or NDHWC, "
                            "got aclFormat(29)");
  }
}

TEST_F(BackwardCheckTest, AViewOutsideItsStorageIsRefused) {
  Spec Call::*const specs[] = {&Call::grad_output, &Call::self, &Call::target, &Call::is_target,
                               &Call::grad_input};
  const std::string names[] = {"gradOutput", "self", "target", "isTarget", "gradInput"};
  for (size_t i = 0; i < std::size(specs); ++i) {
    Call call;
    (call.*specs[i]).offset = 63;
    ExpectInvalidPart(call,
                      names[i] + ": its view must lie inside its storage (64) of 64 elements");
  }
}

TEST_F(BackwardCheckTest, OnlyGradInputMayNotRepeatElements) {
  Call call;
  call.grad_output.strides = {0};
  call.self.strides = call.target.strides = call.is_target.strides = {0, 1};
  ExpectValid(call);
  call.grad_input.strides = {0, 1};
  ExpectInvalid(call,
                "gradInput: no two elements of an output may share an address, got shape (2, 3) "
                "with strides (0, 1)");
  call.grad_input.strides = {3, 2};
  ExpectValid(call);
}

TEST_F(BackwardCheckTest, GradInputSharesMemoryWithNothingIsTargetIncluded) {
  DeviceTensor buffer(View{{128}, {1}, 0}, ACL_FLOAT);
  const auto at = [&](int64_t element) {
    return static_cast<void*>(static_cast<float*>(buffer.data()) + element);
  };
  Call apart;  // gradOutput at 0, self at 2, target at 8, isTarget at 20, gradInput at 26 to 31.
  apart.grad_output.data = at(0);
  apart.self.data = at(2);
  apart.target.data = at(8);
  apart.is_target.data = at(20);
  apart.grad_input.data = at(26);
  ExpectValid(apart);
  Spec Call::*const specs[] = {&Call::grad_output, &Call::self, &Call::target, &Call::is_target};
  const std::string names[] = {"gradOutput", "self", "target", "isTarget"};
  for (size_t i = 0; i < std::size(specs); ++i) {
    Call call = apart;
    (call.*specs[i]).data = static_cast<char*>(at(32)) - 1;  // One byte is enough.
    ExpectInvalidPart(call, "gradInput: it must not share memory with " + names[i] +
                                ", got views that begin at 0x");
    (call.*specs[i]).data = at(32);
    ExpectValid(call);
  }
  // Inputs may share.
  apart.self.data = apart.is_target.data = apart.grad_output.data = at(0);
  ExpectValid(apart);
}

TEST_F(BackwardCheckTest, UnknownReductionsAreRefusedAfterEverythingElse) {
  for (const int64_t reduction : {int64_t{-1}, int64_t{3}, INT64_MAX, INT64_MIN}) {
    Call call;
    call.reduction = reduction;
    ExpectInvalid(call, "reduction: it must be 0 (none), 1 (mean) or 2 (sum), got " +
                            std::to_string(reduction));
  }
}

// Everything is wrong, then mended one by one in the order of the checks.
TEST_F(BackwardCheckTest, ChecksComeInTheirOrder) {
  Call call;
  call.reduction = 7;
  call.self = Spec{{1, 2, 3}, ACL_DOUBLE};
  call.target = Spec{{2, 2}, ACL_FLOAT};
  call.grad_output = Spec{{3}, ACL_INT8};
  call.is_target = Spec{{3}, ACL_INT8};
  call.grad_input = Spec{{3}, ACL_INT8, {0}, 0, ACL_FORMAT_FRACTAL_NZ, {2}};
  ExpectInvalidPart(call, "self: its data type");
  call.self.dtype = ACL_FLOAT;
  ExpectInvalidPart(call, "target: its data type");
  call.target.dtype = ACL_INT32;
  ExpectInvalidPart(call, "gradOutput: its data type");
  call.grad_output.dtype = ACL_FLOAT;
  ExpectInvalidPart(call, "isTarget: its data type");
  call.is_target.dtype = ACL_FLOAT;
  ExpectInvalidPart(call, "gradInput: its data type");
  call.grad_input.dtype = ACL_FLOAT;
  ExpectInvalidPart(call, "self: its rank");
  call.self.shape = {2, 3};
  ExpectInvalidPart(call, "target: its shape");
  call.target.shape = {2, 3};
  ExpectInvalidPart(call, "isTarget: its shape");
  call.is_target.shape = {2, 3};
  call.reduction = 0;  // An unknown one has no right shape of gradOutput.
  ExpectInvalidPart(call, "gradOutput: for reduction 0");
  call.grad_output.shape = {2};
  call.reduction = 7;
  ExpectInvalidPart(call, "gradInput: its shape");
  call.grad_input.shape = {2, 3};
  call.grad_input.strides = {0, 1};
  ExpectInvalidPart(call, "gradInput: its format");
  call.grad_input.format = ACL_FORMAT_ND;
  ExpectInvalidPart(call, "gradInput: its view");
  call.grad_input.storage = {64};
  ExpectInvalidPart(call, "gradInput: no two elements");
  call.grad_input.strides = {};
  ExpectInvalidPart(call, "reduction:");
  call.reduction = 0;
  ExpectValid(call);
}

TEST_F(BackwardCheckTest, NullDataPassesPhaseOne) { ExpectValid(Call()); }

}  // namespace
}  // namespace mlmargin::testing
