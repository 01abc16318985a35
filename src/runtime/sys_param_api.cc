// SPDX-License-Identifier: Apache-2.0
// System parameters: entry points and the process's values. They are kept and read back; this
// package's operators give the same bits with every value, so nothing else hangs on them.
#include <fmt/core.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "runtime/c_api.h"
#include "runtime/context.h"
#include "runtime/sys_param.h"

namespace mlmargin::runtime {
namespace {

constexpr int kNumProcessOptions = 4;
constexpr int kNumContextOptions = 3;  // All but ACL_OPT_ENABLE_KERNEL_EARLY_START.

std::array<std::atomic<int64_t>, kNumProcessOptions> process_options;

size_t IndexOf(aclSysParamOpt option) { return static_cast<size_t>(option); }

Status CheckOption(aclSysParamOpt option, int num_options) {
  const int number = static_cast<int>(option);
  if (number >= 0 && number < num_options) return {};
  return InvalidParam(
      fmt::format("argument opt is {}; expected 0 to {}.", number, num_options - 1));
}

Status CheckValue(aclSysParamOpt option, int64_t value) {
  const int64_t highest = option == ACL_OPT_DETERMINISTIC ? 3 : 1;
  if (value >= 0 && value <= highest) return {};
  return InvalidRuntimeParam(fmt::format("argument value is {} for option {}; expected 0 to {}.",
                                         value, static_cast<int>(option), highest));
}

}  // namespace

void SetProcessOption(aclSysParamOpt option, int64_t value) {
  process_options[IndexOf(option)].store(value, std::memory_order_relaxed);
}

int64_t ProcessOption(aclSysParamOpt option) {
  return process_options[IndexOf(option)].load(std::memory_order_relaxed);
}

void ResetProcessOptions() {
  for (std::atomic<int64_t>& option : process_options) option.store(0, std::memory_order_relaxed);
}

}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(value);
    MLMARGIN_RETURN_IF_ERROR(CheckOption(opt, kNumProcessOptions));
    *value = ProcessOption(opt);
    return Status();
  });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckOption(opt, kNumProcessOptions));
    MLMARGIN_RETURN_IF_ERROR(CheckValue(opt, value));
    SetProcessOption(opt, value);
    return Status();
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(value);
    MLMARGIN_RETURN_IF_ERROR(CheckOption(opt, kNumContextOptions));
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    const std::optional<int64_t> option = context->option(IndexOf(opt));
    if (!option) {
      return Status(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "EE1018",
                    fmt::format("option {} of the current context was never set; call "
                                "aclrtCtxSetSysParamOpt first.",
                                static_cast<int>(opt)));
    }
    *value = *option;
    return Status();
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_ERROR(CheckOption(opt, kNumContextOptions));
    MLMARGIN_RETURN_IF_ERROR(CheckValue(opt, value));
    std::shared_ptr<Context> context;
    MLMARGIN_RETURN_IF_ERROR(CurrentContext(&context));
    context->set_option(IndexOf(opt), value);
    return Status();
  });
}
