// SPDX-License-Identifier: Apache-2.0
// The loss and its gradient, without what autograd adds: on the CPU, as shapes alone (meta), and
// the refusal of all other devices.
#include <ATen/ATen.h>
#include <torch/library.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdint>

#include "arguments.h"
#include "register.h"

namespace mlmargin::pytorch {
namespace {

at::Tensor EmptyLoss(const at::Tensor& input, int64_t reduction) {
  return at::empty(LossSizes(input, reduction), input.options());
}

// Large memory is new to the process each time, and the system hands it out by pages. In small ones
// that takes several times as long as to compute the gradient.
void WantLargePages(const at::Tensor& tensor) {
#if defined(__linux__)
  constexpr uintptr_t kPage = uintptr_t{2} << 20, kLarge = uintptr_t{16} << 20;
  if (!tensor.is_cpu() || tensor.nbytes() < kLarge) return;
  const auto begin = reinterpret_cast<uintptr_t>(tensor.data_ptr());
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const uintptr_t end = (begin + tensor.nbytes()) / kPage * kPage;
  // Where the system has none, nothing is lost.
  madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
}

at::Tensor EmptyGradient(const at::Tensor& input) {
  at::Tensor gradient = at::empty(input.sizes(), input.options());
  WantLargePages(gradient);
  return gradient;
}

// Runs what `arguments` has outputs for. `labels` must outlive the call.
void Run(const at::Tensor& input, const Labels& labels, LossArguments* arguments) {
  arguments->scores = ConstMatrixOf(input);
  // CSR lists are read as they lie.
  const bool csr = labels.layout == Layout::kCsr;
  const at::Tensor list = csr ? labels.list.contiguous() : labels.list;
  const at::Tensor offsets = csr ? labels.offsets.contiguous() : labels.offsets;
  arguments->labels = ConstMatrixOf(list);
  if (csr) arguments->label_offsets = offsets.data_ptr();

  BadLabels bad;
  CheckStatus(MultilabelMarginLoss(*arguments, &bad));
  CheckLabels(bad, labels.name(), arguments->classes);
}

at::Tensor Loss(const at::Tensor& input, const Labels& labels, int64_t reduction) {
  LossArguments arguments = CheckedArguments(input, labels, reduction);
  at::Tensor loss = EmptyLoss(input, reduction);
  if (loss.numel() == 0) return loss;
  arguments.loss = loss.data_ptr();
  Run(input, labels, &arguments);
  return loss;
}

at::Tensor Gradient(const at::Tensor& grad_output, const at::Tensor& input, const Labels& labels,
                    int64_t reduction) {
  LossArguments arguments = CheckedArguments(input, labels, reduction);
  CheckGradOutput(grad_output, input, reduction);
  at::Tensor gradient = EmptyGradient(input);
  if (gradient.numel() == 0) return gradient;
  arguments.grad_loss = grad_output.data_ptr();
  arguments.grad_loss_stride = grad_output.dim() == 0 ? 1 : grad_output.stride(0);
  arguments.grad_scores = {gradient.data_ptr(), arguments.classes, 1};
  Run(input, labels, &arguments);
  return gradient;
}

LossAndGradient Both(const at::Tensor& input, const Labels& labels, int64_t reduction) {
  LossArguments arguments = CheckedArguments(input, labels, reduction);
  at::Tensor loss = EmptyLoss(input, reduction);
  at::Tensor gradient = EmptyGradient(input);
  if (loss.numel() == 0) return {loss, gradient};
  arguments.loss = loss.data_ptr();
  if (gradient.numel() > 0) arguments.grad_scores = {gradient.data_ptr(), arguments.classes, 1};
  Run(input, labels, &arguments);
  return {loss, gradient};
}

at::Tensor MetaLoss(const at::Tensor& input, const Labels& labels, int64_t reduction) {
  CheckedArguments(input, labels, reduction);
  return EmptyLoss(input, reduction);
}

at::Tensor MetaGradient(const at::Tensor& grad_output, const at::Tensor& input,
                        const Labels& labels, int64_t reduction) {
  CheckedArguments(input, labels, reduction);
  CheckGradOutput(grad_output, input, reduction);
  return EmptyGradient(input);
}

LossAndGradient MetaBoth(const at::Tensor& input, const Labels& labels, int64_t reduction) {
  return {MetaLoss(input, labels, reduction), EmptyGradient(input)};
}

// Raises if the tensor is one that the kernels above do not take.
void RefuseUnlessDense(const at::Tensor& tensor, const char* argument) {
  const bool dense = tensor.layout() == at::kStrided && !tensor.is_quantized();
  TORCH_CHECK(dense && (tensor.is_cpu() || tensor.is_meta()), "multilabel_margin_loss: ", argument,
              ": expected a dense tensor on cpu (or meta), got ", tensor.toString(), ", layout ",
              tensor.layout(), " on ", tensor.device());
}

[[noreturn]] at::Tensor RefuseLoss(const at::Tensor& input, const Labels& labels, int64_t) {
  RefuseUnlessDense(input, "input");
  RefuseUnlessDense(labels.list, labels.name());
  if (labels.layout == Layout::kCsr) RefuseUnlessDense(labels.offsets, "offsets");
  TORCH_CHECK(false, "multilabel_margin_loss: expected dense tensors on one device, cpu or meta");
}

[[noreturn]] at::Tensor RefuseGradient(const at::Tensor& grad_output, const at::Tensor& input,
                                       const Labels& labels, int64_t reduction) {
  RefuseUnlessDense(grad_output, "grad_output");
  RefuseLoss(input, labels, reduction);
}

[[noreturn]] LossAndGradient RefuseBoth(const at::Tensor& input, const Labels& labels,
                                        int64_t reduction) {
  RefuseLoss(input, labels, reduction);
}

}  // namespace

TORCH_LIBRARY_IMPL(mlmargin, CPU, m) {
  RegisterLoss<Loss>(m);
  RegisterBoth<Both>(m);
  RegisterGradient<Gradient>(m);
}

TORCH_LIBRARY_IMPL(mlmargin, Meta, m) {
  RegisterLoss<MetaLoss>(m);
  RegisterBoth<MetaBoth>(m);
  RegisterGradient<MetaGradient>(m);
}

// All other backends.
TORCH_LIBRARY_IMPL(mlmargin, CompositeExplicitAutograd, m) {
  RegisterLoss<RefuseLoss>(m);
  RegisterBoth<RefuseBoth>(m);
  RegisterGradient<RefuseGradient>(m);
}

}  // namespace mlmargin::pytorch
