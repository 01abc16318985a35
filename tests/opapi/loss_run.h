// SPDX-License-Identifier: Apache-2.0
// One call of the operator through its C API, as a user makes it.
#ifndef MLMARGIN_TESTS_OPAPI_LOSS_RUN_H_
#define MLMARGIN_TESTS_OPAPI_LOSS_RUN_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "aclnnop/aclnn_multilabel_margin_loss.h"
#include "opapi/device_tensor.h"
#include "support/batch.h"

namespace mlmargin::testing {

// Everything about a call but its values.
struct CallShape {
  int rank = 2;
  aclDataType target_type = ACL_INT64;
  int64_t reduction = 0;
  ViewKind self_view = ViewKind::kContiguous;
  ViewKind target_view = ViewKind::kContiguous;
  ViewKind out_view = ViewKind::kContiguous;
  ViewKind mask_view = ViewKind::kContiguous;
  size_t misalignment = 0;
  aclrtStream stream = nullptr;
};

// The shapes of self and of out.
std::vector<int64_t> SelfDims(const Batch& batch, const CallShape& shape);
std::vector<int64_t> OutDims(const Batch& batch, const CallShape& shape);

struct LossResult {
  std::vector<uint32_t> losses;
  std::vector<uint32_t> mask;
  bool operator==(const LossResult&) const = default;
};

// The four tensors of a call, filled from a batch.
struct CallTensors {
  CallTensors(const Batch& batch, const CallShape& shape);

  std::unique_ptr<DeviceTensor> self, target, out, is_target;

  LossResult Result() const { return {out->Read(), is_target->Read()}; }
  // Inputs unchanged, and outputs too outside their views.
  bool NothingElseWritten() const {
    return self->Untouched() && target->Untouched() && out->GuardsIntact() &&
           is_target->GuardsIntact();
  }
  bool NothingWritten() const {
    return self->Untouched() && target->Untouched() && out->Untouched() && is_target->Untouched();
  }
};

// Phase 1 with these tensors.
struct Planned {
  aclnnStatus status = -1;
  uint64_t workspace_bytes = 0;
  aclOpExecutor* executor = nullptr;
};
Planned Plan(const CallTensors& tensors, int64_t reduction);

// Device memory for a workspace; null for none.
class Workspace {
 public:
  explicit Workspace(uint64_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// Both phases and the wait; every status must be 0 and nothing but the views may be written.
LossResult RunLoss(const Batch& batch, const CallShape& shape);

// Compares with the oracle: losses within 1 ulp, the mask exactly.
void ExpectLosses(const Batch& batch, const std::vector<ExactValue>& losses,
                  const std::vector<int>& mask, const LossResult& result, const std::string& what);

// The largest error seen so far by ExpectLosses for a format, in ulps.
double WorstUlp(const FloatFormat& format);

// Reads and clears the thread's pending message; "" if there is none.
std::string TakeMessage();

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_OPAPI_LOSS_RUN_H_
