// SPDX-License-Identifier: Apache-2.0
#include "opapi/run_kernel.h"

#include <fmt/core.h>

#include "mlmargin/settings.h"
#include "opapi/label_warning.h"

namespace mlmargin::opapi {
namespace {

nnopbase::Status ToStreamStatus(const mlmargin::Status& status, const char* not_written) {
  switch (status.code()) {
    case StatusCode::kOk:
      return {};
    case StatusCode::kLabelOutOfRange:
      return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "EZ2001",
              fmt::format("target: {}; {}", status.message(), not_written)};
    case StatusCode::kOutOfMemory:
      return {ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "out of host memory: " + status.message()};
    case StatusCode::kInvalidArgument:
      break;  // Phase 1 lets none through.
  }
  return {ACL_ERROR_RT_INTERNAL_ERROR, "EZ9999", status.message()};
}

}  // namespace

nnopbase::Status RunKernel(LossArguments call, LabelReport* report) {
  const LabelCheck check = GetLabelCheck();
  call.reject_bad_labels = check == LabelCheck::kError;
  BadLabels bad_labels;
  const mlmargin::Status status = mlmargin::MultilabelMarginLoss(call, &bad_labels);
  if (status.ok() && check == LabelCheck::kWarn && bad_labels.count > 0) {
    WarnAboutLabels(report->function, ++report->calls_with_bad_labels, bad_labels, call.classes);
  }
  return ToStreamStatus(status, report->not_written);
}

}  // namespace mlmargin::opapi
