// SPDX-License-Identifier: Apache-2.0
// What the phase 1 of every operator begins with.
#ifndef MLMARGIN_OPAPI_PHASE1_H_
#define MLMARGIN_OPAPI_PHASE1_H_

#include <cstdint>
#include <initializer_list>
#include <memory>

#include "nnopbase/private_api.h"

namespace mlmargin::opapi {

// A tensor argument, and where the tensor behind its handle goes.
struct TensorArgument {
  const char* name;  // As in the operator's prototype.
  const aclTensor* handle;
  std::shared_ptr<const nnopbase::Tensor>* tensor;
};

// Finds the tensors of a call. 161001 for the first null of workspaceSize, executor and the
// tensors in their order, before anything that a live pointer may be guilty of; 161002 for the
// first tensor that is not live. Also warns, once, of settings that are not understood.
nnopbase::Status BeginPhase1(const uint64_t* workspace_size, aclOpExecutor* const* executor,
                             std::initializer_list<TensorArgument> tensors);

}  // namespace mlmargin::opapi

#endif  // MLMARGIN_OPAPI_PHASE1_H_
