// SPDX-License-Identifier: Apache-2.0
// Derivatives and autocast. Where a gradient will be wanted, the loss and the gradient come from
// one pass, for a gradient by the loss of 1, which is what most backward passes begin with. For any
// other the gradient is computed anew from the scores and labels: a product would be rounded twice.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "arguments.h"
#include "register.h"

namespace mlmargin::pytorch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

template <typename Signature>
auto Operator(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

at::Tensor CallLoss(const at::Tensor& input, const Labels& labels, int64_t reduction) {
  using at::Tensor;
  static const auto list =
      Operator<Tensor(const Tensor&, const Tensor&, int64_t, bool)>("mlmargin::loss");
  static const auto csr =
      Operator<Tensor(const Tensor&, const Tensor&, const Tensor&, int64_t)>("mlmargin::loss_csr");
  if (labels.layout == Layout::kCsr) {
    return csr.call(input, labels.offsets, labels.list, reduction);
  }
  return list.call(input, labels.list, reduction, labels.layout == Layout::kPadded);
}

LossAndGradient CallBoth(const at::Tensor& input, const Labels& labels, int64_t reduction) {
  using at::Tensor;
  static const auto list = Operator<LossAndGradient(const Tensor&, const Tensor&, int64_t, bool)>(
      "mlmargin::loss_and_gradient");
  static const auto csr =
      Operator<LossAndGradient(const Tensor&, const Tensor&, const Tensor&, int64_t)>(
          "mlmargin::loss_and_gradient_csr");
  if (labels.layout == Layout::kCsr) {
    return csr.call(input, labels.offsets, labels.list, reduction);
  }
  return list.call(input, labels.list, reduction, labels.layout == Layout::kPadded);
}

at::Tensor CallGradient(const at::Tensor& grad_output, const at::Tensor& input,
                        const Labels& labels, int64_t reduction) {
  using at::Tensor;
  static const auto list =
      Operator<Tensor(const Tensor&, const Tensor&, const Tensor&, int64_t, bool)>(
          "mlmargin::loss_backward");
  static const auto csr =
      Operator<Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t)>(
          "mlmargin::loss_csr_backward");
  if (labels.layout == Layout::kCsr) {
    return csr.call(grad_output, input, labels.offsets, labels.list, reduction);
  }
  return list.call(grad_output, input, labels.list, reduction, labels.layout == Layout::kPadded);
}

void Save(AutogradContext* context, const at::Tensor& input, const Labels& labels,
          int64_t reduction) {
  context->save_for_backward({input, labels.list, labels.offsets});
  context->saved_data["layout"] = static_cast<int64_t>(labels.layout);
  context->saved_data["reduction"] = reduction;
}

struct Saved {
  explicit Saved(AutogradContext* context) : Saved(context, context->get_saved_variables()) {}
  Saved(AutogradContext* context, const variable_list& tensors)
      : input(tensors[0]),
        labels{static_cast<Layout>(context->saved_data["layout"].toInt()), tensors[1], tensors[2]},
        reduction(context->saved_data["reduction"].toInt()) {}

  at::Tensor input;
  Labels labels;
  int64_t reduction;
};

// The gradient is linear in grad_output and, but for its jumps, constant in the scores.
struct GradientFunction : torch::autograd::Function<GradientFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& grad_output,
                            const at::Tensor& input, const Labels& labels, int64_t reduction) {
    Save(context, input, labels, reduction);
    context->saved_data["grad_output_requires_grad"] = grad_output.requires_grad();
    const at::AutoDispatchBelowADInplaceOrView guard;
    return CallGradient(grad_output, input, labels, reduction);
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const Saved saved(context);
    const at::Tensor& by_gradient = grads[0];
    at::Tensor by_grad_output, by_input;
    if (context->saved_data["grad_output_requires_grad"].toBool()) {
      const at::Tensor ones =
          at::ones(LossSizes(saved.input, saved.reduction), saved.input.options());
      const at::Tensor product =
          by_gradient * CallGradient(ones, saved.input, saved.labels, saved.reduction);
      by_grad_output = ones.dim() == 1 ? product.sum(1) : product.sum();
    }
    // Zeros, not nothing: whoever differentiates by the scores once more gets an answer.
    if (saved.input.requires_grad()) by_input = at::zeros_like(saved.input);
    return {by_grad_output, by_input, at::Tensor(), at::Tensor()};
  }
};

bool AllOnes(const at::Tensor& tensor) {
  // Of one that stands for several, or for none, there is no value to look at.
  const c10::DispatchKeySet wrappers({c10::DispatchKey::Batched, c10::DispatchKey::FuncTorchBatched,
                                      c10::DispatchKey::FuncTorchGradWrapper,
                                      c10::DispatchKey::Functionalize, c10::DispatchKey::Python});
  if (!tensor.is_cpu() || tensor.layout() != at::kStrided) return false;
  if (tensor.key_set().has_any(wrappers)) return false;
  if (tensor.numel() == 1) return tensor.item().toDouble() == 1;
  return (tensor == 1).all().item().toBool();
}

struct LossFunction : torch::autograd::Function<LossFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const Labels& labels,
                            int64_t reduction, bool gradient_wanted) {
    Save(context, input, labels, reduction);
    const at::AutoDispatchBelowADInplaceOrView guard;
    if (!gradient_wanted) return CallLoss(input, labels, reduction);
    LossAndGradient both = CallBoth(input, labels, reduction);
    context->saved_data["gradient"] = std::get<1>(both);
    return std::get<0>(both);
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const Saved saved(context);  // Raises if one of them has been changed since.
    at::Tensor gradient = TakeGradient(context, grads[0]);
    if (!gradient.defined()) {
      gradient = CallGradient(grads[0], saved.input, saved.labels, saved.reduction);
    }
    return {gradient, at::Tensor(), at::Tensor(), at::Tensor()};
  }

 private:
  // What forward kept, if it is what backward is to give; no longer kept, so that who gets it need
  // not copy it. A gradient that is itself to be differentiated must be computed.
  static at::Tensor TakeGradient(AutogradContext* context, const at::Tensor& grad_loss) {
    const auto kept = context->saved_data.find("gradient");
    if (kept == context->saved_data.end() || at::GradMode::is_enabled()) return {};
    at::Tensor gradient = kept->second.toTensor();
    context->saved_data.erase(kept);
    return AllOnes(grad_loss) ? gradient : at::Tensor();
  }
};

// A custom function of C++ has no forward mode; PyTorch's own words for that name no function.
void RefuseForwardMode(const at::Tensor& tensor) {
  TORCH_CHECK(!tensor._fw_grad(0).defined(),
              "multilabel_margin_loss: forward-mode automatic differentiation is not implemented");
}

at::Tensor DifferentiableLoss(const at::Tensor& input, const Labels& labels, int64_t reduction) {
  RefuseForwardMode(input);
  const bool gradient_wanted = at::GradMode::is_enabled() && input.requires_grad();
  return LossFunction::apply(input, labels, reduction, gradient_wanted);
}

at::Tensor DifferentiableGradient(const at::Tensor& grad_output, const at::Tensor& input,
                                  const Labels& labels, int64_t reduction) {
  RefuseForwardMode(grad_output);
  RefuseForwardMode(input);
  return GradientFunction::apply(grad_output, input, labels, reduction);
}

// In float32, as PyTorch has it for this loss.
at::Tensor AutocastLoss(const at::Tensor& input, const Labels& labels, int64_t reduction) {
  const c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::AutocastCPU);
  return CallLoss(at::autocast::cached_cast(at::kFloat, input, c10::DeviceType::CPU), labels,
                  reduction);
}

}  // namespace

TORCH_LIBRARY_IMPL(mlmargin, Autograd, m) {
  RegisterLoss<DifferentiableLoss>(m);
  RegisterGradient<DifferentiableGradient>(m);
}

TORCH_LIBRARY_IMPL(mlmargin, AutocastCPU, m) { RegisterLoss<AutocastLoss>(m); }

}  // namespace mlmargin::pytorch
