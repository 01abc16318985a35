// SPDX-License-Identifier: Apache-2.0
#include "runtime/log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/c_api.h"
#include "runtime/log_settings.h"
#include "runtime/never_destroyed.h"
#include "runtime/timestamp.h"

namespace mlmargin::runtime {
namespace {

constexpr std::array<const char*, 4> kLevelNames = {"DEBUG", "INFO", "WARNING", "ERROR"};

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string FormatLine(aclLogLevel level, const char* module, std::string_view text,
                       const char* file, int64_t line) {
  return fmt::format("[{}] {}({},{}):{} [{}:{}]{}", kLevelNames[static_cast<size_t>(level)], module,
                     getpid(), program_invocation_short_name, LocalTimestamp(), BaseName(file),
                     line, text);
}

spdlog::sink_ptr MakeFileSink(const std::string& folder) {
  return std::make_shared<spdlog::sinks::basic_file_sink_mt>(
      fmt::format("{}/plog-{}_{}.log", folder, getpid(), LocalTimestamp()));
}

spdlog::sink_ptr MakeStderrSink() { return std::make_shared<spdlog::sinks::stderr_sink_mt>(); }

class LogWriter {
 public:
  LogWriter() : settings_(ReadLogSettings()), logger_("mlmargin", MakeSink()) {
    logger_.set_level(spdlog::level::trace);
    logger_.set_pattern("%v");
    logger_.flush_on(spdlog::level::trace);
  }

  bool Enabled(aclLogLevel level, std::string_view module) const {
    return level >= ACL_DEBUG && level <= ACL_ERROR && level >= settings_.LevelOf(module);
  }

  void Write(const std::string& line) { logger_.log(spdlog::level::info, line); }

 private:
  spdlog::sink_ptr MakeSink() const {
    if (settings_.target == LogTarget::kStdout) {
      return std::make_shared<spdlog::sinks::stdout_sink_mt>();
    }
    if (settings_.target == LogTarget::kStderr) return MakeStderrSink();
    try {
      return MakeFileSink(settings_.folder);
    } catch (const spdlog::spdlog_ex& error) {
      spdlog::sink_ptr sink = MakeStderrSink();
      const std::string line =
          FormatLine(ACL_WARNING, "ASCENDCL",
                     fmt::format("no log file in {} ({}); the log goes to standard error.",
                                 settings_.folder, error.what()),
                     __FILE__, __LINE__);
      fmt::print(stderr, "{}\n", line);
      return sink;
    }
  }

  LogSettings settings_;
  spdlog::logger logger_;  // Our own, in no registry: nothing shuts it down at exit.
};

// Never destroyed: workers may log while the process ends.
LogWriter& Writer() {
  static NeverDestroyed<LogWriter> writer;
  return writer.get();
}

}  // namespace

bool LogEnabled(aclLogLevel level, const char* module) noexcept {
  if (InForkedChild()) return false;
  try {
    return Writer().Enabled(level, module);
  } catch (...) {
    return false;
  }
}

void Log(aclLogLevel level, const char* module, std::string_view text, const char* file,
         int line) noexcept {
  if (!LogEnabled(level, module)) return;
  try {
    Writer().Write(FormatLine(level, module, text, file, line));
  } catch (...) {
    // A log that cannot be written is no reason to fail.
  }
}

}  // namespace mlmargin::runtime

using namespace mlmargin::runtime;

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
               const char* fmt, ...) {
  constexpr const char* kModule = "APP";
  constexpr size_t kMaxTextBytes = 1024;  // With the terminator.
  if (fmt == nullptr || !LogEnabled(logLevel, kModule)) return;
  char text[kMaxTextBytes];
  va_list arguments;
  va_start(arguments, fmt);
  const int length = std::vsnprintf(text, sizeof(text), fmt, arguments);
  va_end(arguments);
  if (length < 0) return;
  try {
    Log(logLevel, kModule,
        fmt::format("{}: {}", func == nullptr ? "?" : func, static_cast<const char*>(text)),
        file == nullptr ? "?" : file, static_cast<int>(line));
  } catch (...) {
    // See Log.
  }
}
