// SPDX-License-Identifier: Apache-2.0
// What torch.ops.mlmargin holds. `reduction` is 0 (none), 1 (mean) or 2 (sum).
#include <torch/library.h>

#include <string>

#include "mlmargin/sharded_loss.h"
#include "mlmargin/version.h"

namespace {

#define MLMARGIN_TEXT_OF(number) #number
#define MLMARGIN_TEXT(number) MLMARGIN_TEXT_OF(number)

std::string Version() {
  return MLMARGIN_TEXT(MLMARGIN_VERSION_MAJOR) "." MLMARGIN_TEXT(
      MLMARGIN_VERSION_MINOR) "." MLMARGIN_TEXT(MLMARGIN_VERSION_PATCH);
}

}  // namespace

TORCH_LIBRARY(mlmargin, m) {
  m.def("version() -> str", &Version);

  m.def("loss(Tensor input, Tensor target, int reduction, bool padded) -> Tensor");
  m.def(
      "loss_backward(Tensor grad_output, Tensor input, Tensor target, int reduction, bool padded) "
      "-> Tensor");
  m.def("loss_csr(Tensor input, Tensor offsets, Tensor indices, int reduction) -> Tensor");
  m.def(
      "loss_csr_backward(Tensor grad_output, Tensor input, Tensor offsets, Tensor indices, "
      "int reduction) -> Tensor");

  // Both at once, for a gradient by the loss of 1: what autograd asks for.
  m.def(
      "loss_and_gradient(Tensor input, Tensor target, int reduction, bool padded) "
      "-> (Tensor loss, Tensor gradient)");
  m.def(
      "loss_and_gradient_csr(Tensor input, Tensor offsets, Tensor indices, int reduction) "
      "-> (Tensor loss, Tensor gradient)");

  // The steps of include/mlmargin/sharded_loss.h.
  m.def("part_classes(int classes) -> int", &mlmargin::PartClasses);
  m.def("num_parts(int classes, int shard_classes) -> int", &mlmargin::NumParts);
  m.def(
      "shard_sums(Tensor input, Tensor target, Tensor label_scores, int first_class, "
      "int num_classes) -> (Tensor part_sums, Tensor label_counts)");
  m.def(
      "shard_reduce(Tensor part_sums, int num_classes, ScalarType dtype, int reduction) -> Tensor");
  m.def(
      "shard_gradient(Tensor grad_output, Tensor input, Tensor target, Tensor label_scores, "
      "Tensor label_counts, int first_class, int num_classes, int reduction) -> Tensor");
}
