// SPDX-License-Identifier: Apache-2.0
#include "opapi/gradient_run.h"

#include <gtest/gtest.h>

#include <random>

namespace mlmargin::testing {
namespace {

// A zero with the sign that the exact value has, for UlpError is strict about it.
uint32_t WithoutZeroSign(const FloatFormat& format, const ExactValue& exact, uint32_t bits) {
  const uint32_t sign = 1u << (format.bits - 1);
  if ((bits & ~sign) != 0) return bits;
  return exact.value < 0 ? sign : 0;
}

}  // namespace

std::vector<uint32_t> MakeGradOutputs(const Batch& batch, const CallShape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const int64_t count = MakeView(OutDims(batch, shape), ViewKind::kContiguous).NumElements();
  std::vector<uint32_t> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(EncodeNear(batch.format, normal(random)));
  return values;
}

GradientTensors::GradientTensors(const Batch& batch, const std::vector<uint32_t>& grad_outputs,
                                 const GradientShape& shape) {
  const std::vector<int64_t> dims = SelfDims(batch, shape);
  const aclDataType type = AclType(batch.format);
  const auto make = [&](const std::vector<int64_t>& tensor_dims, ViewKind kind, aclDataType dtype) {
    return std::make_unique<DeviceTensor>(MakeView(tensor_dims, kind), dtype, shape.misalignment);
  };
  grad_output = make(OutDims(batch, shape), shape.out_view, type);
  self = make(dims, shape.self_view, type);
  target = make(dims, shape.target_view, shape.target_type);
  is_target = make(dims, shape.mask_view, type);
  grad_input = make(dims, shape.grad_input_view, type);
  grad_output->Write(std::vector<int64_t>(grad_outputs.begin(), grad_outputs.end()));
  self->Write(std::vector<int64_t>(batch.scores.begin(), batch.scores.end()));
  target->Write(batch.labels);
}

Planned Plan(const GradientTensors& tensors, int64_t reduction) {
  Planned planned;
  planned.workspace_bytes = 77;
  planned.status = aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
      tensors.grad_output->handle(), tensors.self->handle(), tensors.target->handle(), reduction,
      tensors.is_target->handle(), tensors.grad_input->handle(), &planned.workspace_bytes,
      &planned.executor);
  return planned;
}

std::vector<uint32_t> RunGradient(const Batch& batch, const std::vector<uint32_t>& grad_outputs,
                                  const GradientShape& shape) {
  const GradientTensors tensors(batch, grad_outputs, shape);
  const Planned planned = Plan(tensors, shape.reduction);
  EXPECT_EQ(planned.status, 0) << TakeMessage();
  EXPECT_EQ(planned.workspace_bytes, 0u);
  EXPECT_EQ(aclnnMultilabelMarginLossBackward(nullptr, 0, planned.executor, shape.stream), 0)
      << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(shape.stream), 0) << TakeMessage();
  EXPECT_TRUE(tensors.NothingElseWritten()) << batch.Name();
  return tensors.grad_input->Read();
}

void ExpectGradient(const Batch& batch, const std::vector<ExactValue>& exact,
                    const std::vector<uint32_t>& gradient, const std::string& what) {
  ASSERT_EQ(gradient.size(), exact.size()) << batch.Name() << " " << what;
  for (size_t k = 0; k < exact.size(); ++k) {
    const uint32_t bits = WithoutZeroSign(batch.format, exact[k], gradient[k]);
    ASSERT_LE(UlpError(batch.format, exact[k], bits), 1.0)
        << batch.Name() << " " << what << ": element " << k << " is "
        << Decode(batch.format, gradient[k]) << ", exactly " << exact[k].value.get_d();
  }
}

}  // namespace mlmargin::testing
