// SPDX-License-Identifier: Apache-2.0
#include "opapi/loss_run.h"

#include <gtest/gtest.h>

#include <map>

namespace mlmargin::testing {
namespace {

std::map<std::string, double>& WorstErrors() {
  static std::map<std::string, double> worst;
  return worst;
}

}  // namespace

std::vector<int64_t> SelfDims(const Batch& batch, const CallShape& shape) {
  if (shape.rank == 2) return {batch.rows, batch.classes};
  if (shape.rank == 1) return {batch.classes};
  return {};
}

std::vector<int64_t> OutDims(const Batch& batch, const CallShape& shape) {
  if (shape.reduction == 0 && shape.rank == 2) return {batch.rows};
  return {};
}

CallTensors::CallTensors(const Batch& batch, const CallShape& shape) {
  const std::vector<int64_t> dims = SelfDims(batch, shape);
  const aclDataType type = AclType(batch.format);
  const auto make = [&](const std::vector<int64_t>& tensor_dims, ViewKind kind, aclDataType dtype) {
    return std::make_unique<DeviceTensor>(MakeView(tensor_dims, kind), dtype, shape.misalignment);
  };
  self = make(dims, shape.self_view, type);
  target = make(dims, shape.target_view, shape.target_type);
  is_target = make(dims, shape.mask_view, type);
  out = make(OutDims(batch, shape), shape.out_view, type);
  self->Write(std::vector<int64_t>(batch.scores.begin(), batch.scores.end()));
  target->Write(batch.labels);
}

Planned Plan(const CallTensors& tensors, int64_t reduction) {
  Planned planned;
  planned.status = aclnnMultilabelMarginLossGetWorkspaceSize(
      tensors.self->handle(), tensors.target->handle(), reduction, tensors.out->handle(),
      tensors.is_target->handle(), &planned.workspace_bytes, &planned.executor);
  return planned;
}

Workspace::Workspace(uint64_t bytes) {
  if (bytes == 0) return;
  EXPECT_EQ(aclrtMalloc(&data_, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  // Device memory is not cleared; a kernel that read it would show.
  EXPECT_EQ(aclrtMemset(data_, bytes, 0xFF, bytes), ACL_SUCCESS);
}

Workspace::~Workspace() {
  if (data_ != nullptr) {
    EXPECT_EQ(aclrtFree(data_), ACL_SUCCESS);
  }
}

LossResult RunLoss(const Batch& batch, const CallShape& shape) {
  const CallTensors tensors(batch, shape);
  const Planned planned = Plan(tensors, shape.reduction);
  EXPECT_EQ(planned.status, 0) << TakeMessage();
  EXPECT_LE(planned.workspace_bytes, (1u << 20) + 16 * static_cast<uint64_t>(batch.rows));
  const Workspace workspace(planned.workspace_bytes);
  EXPECT_EQ(aclnnMultilabelMarginLoss(workspace.data(), planned.workspace_bytes, planned.executor,
                                      shape.stream),
            0)
      << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(shape.stream), 0) << TakeMessage();
  EXPECT_TRUE(tensors.NothingElseWritten()) << batch.Name();
  return tensors.Result();
}

void ExpectLosses(const Batch& batch, const std::vector<ExactValue>& losses,
                  const std::vector<int>& mask, const LossResult& result, const std::string& what) {
  ASSERT_EQ(result.losses.size(), losses.size()) << batch.Name() << " " << what;
  for (size_t i = 0; i < losses.size(); ++i) {
    const double error = UlpError(batch.format, losses[i], result.losses[i]);
    double& worst = WorstErrors()[batch.format.name];
    worst = std::max(worst, error);
    EXPECT_LE(error, 1.0) << batch.Name() << " " << what << ": loss " << i << " is "
                          << Decode(batch.format, result.losses[i]) << ", exactly "
                          << losses[i].value.get_d();
  }
  ASSERT_EQ(result.mask.size(), mask.size()) << batch.Name() << " " << what;
  for (size_t i = 0; i < mask.size(); ++i) {
    ASSERT_EQ(result.mask[i], mask[i] == 1 ? batch.format.one() : 0u)
        << batch.Name() << " " << what << ": mask element " << i;
  }
}

double WorstUlp(const FloatFormat& format) { return WorstErrors()[format.name]; }

std::string TakeMessage() {
  const char* const message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

}  // namespace mlmargin::testing
