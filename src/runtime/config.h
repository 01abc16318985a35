// SPDX-License-Identifier: Apache-2.0
// The JSON file of aclInit and aclnnInit.
#ifndef MLMARGIN_RUNTIME_CONFIG_H_
#define MLMARGIN_RUNTIME_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/error_report.h"
#include "runtime/status.h"

namespace mlmargin::runtime {

struct Config {
  std::string canonical_text;                          // Equal for files that say the same.
  std::optional<int32_t> default_device;               // defaultDevice.default_device
  MessageScope message_scope = MessageScope::kThread;  // err_msg_mode
  bool enable_debug_kernel = false;                    // op_debug_config.enable_debug_kernel
};

// Null and "" mean an empty file. 100003: not readable; 100005: above 1 MiB; 100006: not JSON, no
// object, or nested deeper than 10 braces or 10 brackets; 100008: a value of ours is bad. Keys
// that are not ours get a warning in the log.
Status ReadConfig(const char* path, Config* config);

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_CONFIG_H_
