// SPDX-License-Identifier: Apache-2.0
// One call of the operator or of its gradient as the stress tests make it: tensors, memory and
// expected bits made once, run as often as wanted on any stream.
#ifndef MLMARGIN_TESTS_STRESS_WORK_H_
#define MLMARGIN_TESTS_STRESS_WORK_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "support/batch.h"

namespace mlmargin::testing {

// What is computed, and from what.
struct WorkKind {
  Batch batch;
  int64_t reduction = 0;
  bool backward = false;
  bool int32_labels = false;

  std::string Name() const;
};

// Kinds that differ in type, size, reduction, labels and direction; `seed` varies the data.
std::vector<WorkKind> SmallWork(uint64_t seed);  // For the exact oracle.
std::vector<WorkKind> LargeWork(uint64_t seed);  // Split over threads, some with lists on the heap.

// One thread at a time. Needs a current device; its memory is the device's.
class Work {
 public:
  explicit Work(const WorkKind& kind);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // Queues phase 2; the code of the call that failed. `repeated`: with the executor of the first
  // such call, else with one of its own.
  int32_t Launch(aclrtStream stream, bool repeated);

  // What is in the output, once the stream has been waited for; it is spoilt for the next run.
  std::vector<uint32_t> TakeResult();

  // Whether a result is within 1 ulp of the exact one. Slow.
  bool IsExact(const std::vector<uint32_t>& result) const;

 private:
  int32_t Plan(aclOpExecutor** executor);
  void* Upload(const std::vector<int64_t>& values, size_t element_bytes);
  void AddTensor(std::vector<int64_t> shape, aclDataType type, void* data);

  const WorkKind kind_;
  const size_t element_bytes_;
  size_t num_results_ = 0;
  std::vector<uint32_t> grad_outputs_;  // With a gradient.
  std::vector<void*> memory_;
  std::vector<aclTensor*> tensors_;  // In the order of phase 1.
  void* result_ = nullptr;
  void* workspace_ = nullptr;
  uint64_t workspace_bytes_ = 0;
  aclOpExecutor* repeatable_ = nullptr;
};

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_STRESS_WORK_H_
