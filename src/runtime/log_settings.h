// SPDX-License-Identifier: Apache-2.0
// What the ASCEND_* variables say about the log.
#ifndef MLMARGIN_RUNTIME_LOG_SETTINGS_H_
#define MLMARGIN_RUNTIME_LOG_SETTINGS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mlmargin::runtime {

enum class LogTarget { kStderr, kStdout, kFile };

struct LogSettings {
  int level = 2;  // Lowest aclLogLevel that is written; 4: none.
  std::map<std::string, int, std::less<>> module_level;  // Beats `level`; upper-case names.
  LogTarget target = LogTarget::kStderr;
  std::string folder;  // For kFile.

  int LevelOf(std::string_view module) const;
};

// ASCEND_GLOBAL_LOG_LEVEL (0 debug .. 3 error, 4 off), ASCEND_MODULE_LOG_LEVEL (NAME=level joined
// by ':'), ASCEND_LOG_PRINT_TO_STDOUT (0 file, 1 standard output; unset: standard error) or its
// old name ASCEND_SLOG_PRINT_TO_STDOUT, and the folder: ASCEND_PROCESS_LOG_PATH, else
// ASCEND_WORK_PATH, else $HOME/ascend/log. Values that are none of these are ignored.
LogSettings ReadLogSettings();

}  // namespace mlmargin::runtime

#endif  // MLMARGIN_RUNTIME_LOG_SETTINGS_H_
