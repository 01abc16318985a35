// SPDX-License-Identifier: Apache-2.0
// The executors behind aclOpExecutor handles: the plan of a phase 1, and the addresses for the
// next phase 2.
#ifndef MLMARGIN_NNOPBASE_EXECUTOR_H_
#define MLMARGIN_NNOPBASE_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "nnopbase/private_api.h"
#include "runtime/handle_table.h"

namespace mlmargin::nnopbase {

// Everything but the addresses and the state is immutable. Thread-safe.
class Executor {
 public:
  struct Plan {
    const char* function;             // The phase-2 function that may run it.
    std::vector<Argument> arguments;  // Inputs, then outputs.
    size_t num_inputs;
    uint64_t workspace_bytes;
    std::shared_ptr<const Operator> op;
  };
  // The addresses begin as those of the tensors.
  explicit Executor(Plan plan);

  const Plan& plan() const { return plan_; }
  std::span<const Argument> inputs() const;
  std::span<const Argument> outputs() const;

  // What a phase 2 gets: nothing, since the executor is spent; its one run; or one of many.
  enum class Turn { kNone, kOnly, kRepeated };

  // Hands out the addresses for one phase 2, in the order of the arguments. A one-shot executor is
  // spent by it, so that of two racing calls one gets its turn.
  Turn Begin(std::vector<void*>* addresses);

  // False when the executor is spent.
  bool MakeRepeatable();

  // Bars any further Begin.
  void Spend();

  // For the next Begin; work that is queued keeps what it has.
  void SetAddress(size_t argument_index, void* address);

 private:
  enum class State { kOneShot, kRepeatable, kSpent };

  const Plan plan_;
  mutable std::mutex mutex_;
  State state_ = State::kOneShot;  // Guarded by mutex_, as the addresses.
  std::vector<void*> addresses_;
};

// All executors that are not spent; never destroyed.
runtime::HandleTable<Executor>& Executors();

}  // namespace mlmargin::nnopbase

#endif  // MLMARGIN_NNOPBASE_EXECUTOR_H_
