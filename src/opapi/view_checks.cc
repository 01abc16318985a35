// SPDX-License-Identifier: Apache-2.0
#include "opapi/view_checks.h"

#include <algorithm>
#include <array>
#include <vector>

#include "opapi/errors.h"
#include "opapi/overlap.h"

namespace mlmargin::opapi {

using nnopbase::ShapeText;
using nnopbase::Status;
using nnopbase::Tensor;

namespace {

Status CheckFormat(const char* argument, const Tensor& tensor) {
  // All of these say "as the dimensions stand"; the others would say that data is rearranged.
  constexpr std::array kPlain = {ACL_FORMAT_ND,    ACL_FORMAT_NC,   ACL_FORMAT_NCL,
                                 ACL_FORMAT_NCHW,  ACL_FORMAT_NHWC, ACL_FORMAT_HWCN,
                                 ACL_FORMAT_NCDHW, ACL_FORMAT_NDHWC};
  if (std::find(kPlain.begin(), kPlain.end(), tensor.format) != kPlain.end()) return {};
  return Invalid(
      "{}: its format must be ND, NC, NCL, NCHW, NHWC, HWCN, NCDHW or NDHWC, got "
      "aclFormat({})",
      argument, static_cast<int>(tensor.format));
}

Status CheckOutputView(const char* argument, const Tensor& tensor) {
  if (!MakeByteView(tensor, nullptr).repeats) return {};
  return Invalid(
      "{}: no two elements of an output may share an address, got shape {} with "
      "strides {}",
      argument, ShapeText(tensor.view_shape), ShapeText(tensor.strides));
}

}  // namespace

Status CheckViews(std::span<const NamedTensor> tensors, size_t num_inputs) {
  for (const auto& [name, tensor] : tensors) MLMARGIN_RETURN_IF_ERROR(CheckFormat(name, *tensor));
  for (const auto& [name, tensor] : tensors) {
    MLMARGIN_RETURN_IF_ERROR(nnopbase::CheckView(*tensor, name));
  }
  for (const auto& [name, tensor] : tensors.subspan(num_inputs)) {
    MLMARGIN_RETURN_IF_ERROR(CheckOutputView(name, *tensor));
  }
  std::vector<void*> addresses;
  for (const auto& [name, tensor] : tensors) addresses.push_back(tensor->data);
  return CheckOverlaps(tensors, num_inputs, addresses);
}

Status CheckOverlaps(std::span<const NamedTensor> tensors, size_t num_inputs,
                     std::span<void* const> addresses) {
  std::vector<ByteView> views(tensors.size());
  for (size_t i = 0; i < views.size(); ++i) {
    views[i] = MakeByteView(*tensors[i].tensor, addresses[i]);
  }
  for (size_t output = num_inputs; output < views.size(); ++output) {
    for (size_t other = 0; other < output; ++other) {
      if (addresses[output] == nullptr || addresses[other] == nullptr) continue;
      if (!ShareByte(views[output], views[other])) continue;
      return Invalid(
          "{}: it must not share memory with {}, got views that begin at {:#x} and {:#x}",
          tensors[output].name, tensors[other].name, views[output].address, views[other].address);
    }
  }
  return {};
}

}  // namespace mlmargin::opapi
