// SPDX-License-Identifier: Apache-2.0
// The operators for the loss differ in how labels come; an implementation need not.
#ifndef MLMARGIN_PYTHON_REGISTER_H_
#define MLMARGIN_PYTHON_REGISTER_H_

#include <torch/library.h>

#include <tuple>

#include "arguments.h"

namespace mlmargin::pytorch {

using LossAndGradient = std::tuple<at::Tensor, at::Tensor>;
using LossKernel = at::Tensor (*)(const at::Tensor& input, const Labels& labels, int64_t reduction);
using GradientKernel = at::Tensor (*)(const at::Tensor& grad_output, const at::Tensor& input,
                                      const Labels& labels, int64_t reduction);

using BothKernel = LossAndGradient (*)(const at::Tensor& input, const Labels& labels,
                                       int64_t reduction);

template <LossKernel kLoss>
void RegisterLoss(torch::Library& m) {
  m.impl("loss", [](const at::Tensor& input, const at::Tensor& target, int64_t reduction,
                    bool padded) { return kLoss(input, ListLabels(target, padded), reduction); });
  m.impl("loss_csr",
         [](const at::Tensor& input, const at::Tensor& offsets, const at::Tensor& indices,
            int64_t reduction) { return kLoss(input, CsrLabels(offsets, indices), reduction); });
}

template <BothKernel kBoth>
void RegisterBoth(torch::Library& m) {
  m.impl("loss_and_gradient",
         [](const at::Tensor& input, const at::Tensor& target, int64_t reduction, bool padded) {
           return kBoth(input, ListLabels(target, padded), reduction);
         });
  m.impl("loss_and_gradient_csr",
         [](const at::Tensor& input, const at::Tensor& offsets, const at::Tensor& indices,
            int64_t reduction) { return kBoth(input, CsrLabels(offsets, indices), reduction); });
}

template <GradientKernel kGradient>
void RegisterGradient(torch::Library& m) {
  m.impl("loss_backward", [](const at::Tensor& grad_output, const at::Tensor& input,
                             const at::Tensor& target, int64_t reduction, bool padded) {
    return kGradient(grad_output, input, ListLabels(target, padded), reduction);
  });
  m.impl("loss_csr_backward",
         [](const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& offsets,
            const at::Tensor& indices, int64_t reduction) {
           return kGradient(grad_output, input, CsrLabels(offsets, indices), reduction);
         });
}

}  // namespace mlmargin::pytorch

#endif  // MLMARGIN_PYTHON_REGISTER_H_
