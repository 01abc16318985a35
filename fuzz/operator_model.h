// SPDX-License-Identifier: Apache-2.0
// What docs/api.md says must come of a call of an operator, worked out anew and element by element.
#ifndef MLMARGIN_FUZZ_OPERATOR_MODEL_H_
#define MLMARGIN_FUZZ_OPERATOR_MODEL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "operator_call.h"

namespace mlmargin::fuzz {

// FLOAT, FLOAT16 or BF16.
ScoreFormat FormatOf(aclDataType dtype);

// Where the elements of a tensor lie.
class View {
 public:
  explicit View(const TensorSpec& tensor);

  // Too many elements to look at each, or addresses that are none.
  bool is_huge() const { return is_huge_; }
  int64_t num_elements() const { return num_elements_; }
  int64_t last_index() const { return last_index_; }  // In the storage; offset - 1 if empty.
  unsigned char* At(int64_t k) const;                 // The k-th element in row-major order.
  // The first byte of each element, ascending.
  std::vector<uintptr_t> SortedStarts() const;

 private:
  const TensorSpec& tensor_;
  bool is_huge_ = false;
  int64_t num_elements_ = 1;
  int64_t last_index_ = 0;
};

// Whether phase 1 must accept the call; none where the model cannot say.
std::optional<bool> IsAcceptable(const OperatorCall& call);
// The same for the checks of addresses in phase 2, after phase 1 has accepted.
std::optional<bool> IsRunnable(const OperatorCall& call);

// What the memory of the arena must be after a run: `before`, the bytes before it, but for the
// elements of outputs, which are judged. Fails if it is not. `rejected`: bad labels were an error.
void JudgeMemory(const OperatorCall& call, const std::vector<unsigned char>& before, bool rejected);
bool HasBadLabels(const OperatorCall& call);

}  // namespace mlmargin::fuzz

#endif  // MLMARGIN_FUZZ_OPERATOR_MODEL_H_
