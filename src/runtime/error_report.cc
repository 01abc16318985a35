// SPDX-License-Identifier: Apache-2.0
#include "runtime/error_report.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <iterator>
#include <list>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "acl/acl.h"
#include "runtime/never_destroyed.h"
#include "runtime/private_api.h"
#include "runtime/thread_state.h"
#include "runtime/timestamp.h"

namespace mlmargin::runtime {
namespace {

constexpr size_t kMaxPendingTexts = 8;
constexpr int32_t kAclnnInnerError = 561000;

constexpr std::pair<std::string_view, const char*> kTitles[] = {
    {"EE1001", "Invalid_Argument"},
    {"EE1002", "Execution_Error_Stream_Synchronize_Timeout"},
    {"EE1003", "Invalid_Argument"},
    {"EE1004", "Invalid_Argument_Null_Pointer"},
    {"EE1005", "Not_Supported"},
    {"EE1006", "Not_Supported"},
    {"EE1010", "Execution_Error_Invalid_Context"},
    {"EE1011", "Invalid_Argument"},
    {"EE1012", "Invalid_Argument"},
    {"EE1013", "Resource_Error_Insufficient_Host_Memory"},
    {"EE1016", "Not_Supported"},
    {"EE1017", "Invalid_Argument"},
    {"EE1018", "Invalid_Argument_API_Call_Sequence"},
    {"EE1019", "Execution_Error"},
    {"EE1020", "Invalid_Argument"},
    {"EE1021", "Resource_Error"},
    {"EE1022", "Invalid_Argument"},
    {"EE1023", "Resource_Error"},
    {"EE2002", "Config_Error_Invalid_Environment_Variable"},
    {"EE9999", "Inner_Error"},
    {"EH0001", "Invalid_Argument"},
    {"EH0002", "Invalid_Argument_Null_Pointer"},
    {"EH0003", "File_Operation_Error_Invalid_Path"},
    {"EH0004", "File_Operation_Error"},
    {"EH0005", "Invalid_Argument"},
    {"EH0006", "Not_Supported"},
    {"EH0007", "Invalid_Argument"},
    {"EH0008", "Invalid_Argument_Null_Pointer"},
    {"EH0009", "Invalid_Argument"},
    {"EH0010", "Resource_Error_Insufficient_Host_Memory"},
    {"EH0011", "Not_Supported"},
    {"EH0012", "Invalid_Argument"},
    {"EH0013", "Invalid_Argument"},
    {"EH0014", "Invalid_Argument_Null_Pointer"},
    {"EH9999", "Inner_Error"},
    {"EZ1001", "AclNN_Parameter_Error"},
    {"EZ2001", "Execution_Error"},
    {"EZ9903", "AclNN_Runtime_Error"},
    {"EZ9999", "AclNN_Inner_Error"},
};

const char* TitleOf(std::string_view message_code) {
  const auto* const it =
      std::find_if(std::begin(kTitles), std::end(kTitles),
                   [&](const auto& entry) { return entry.first == message_code; });
  return it == std::end(kTitles) ? "Error" : it->second;
}

// The module that a message code's second letter names.
const char* ModuleOf(std::string_view message_code) {
  if (message_code.size() < 2) return "ASCENDCL";
  if (message_code[1] == 'Z') return "OP";
  return message_code[1] == 'E' ? "RUNTIME" : "ASCENDCL";
}

// A program that polls or initialises twice does so on purpose; its log stays quiet.
aclLogLevel LevelOf(int32_t code) {
  switch (code) {
    case 100002:  // Initialised already.
    case ACL_ERROR_RT_STREAM_SYNC_TIMEOUT:
    case ACL_ERROR_RT_EVENT_SYNC_TIMEOUT:
    case ACL_ERROR_RT_REPORT_TIMEOUT:
      return ACL_INFO;
    default:
      return ACL_ERROR;
  }
}

struct ProcessMessages {
  std::atomic<MessageScope> scope = MessageScope::kThread;
  std::mutex mutex;
  std::list<std::string> texts;  // Newest first; guarded by mutex.
};

ProcessMessages& Process() {
  static NeverDestroyed<ProcessMessages> messages;  // Workers report while the process ends.
  return messages.get();
}

void Keep(std::list<std::string>& texts, std::string text) {
  texts.push_front(std::move(text));
  if (texts.size() > kMaxPendingTexts) texts.pop_back();
}

void KeepInScope(std::string text) {
  ProcessMessages& process = Process();
  if (process.scope.load(std::memory_order_relaxed) == MessageScope::kThread) {
    Keep(TextsOfThisThread().pending, std::move(text));
    return;
  }
  const std::lock_guard lock(process.mutex);
  Keep(process.texts, std::move(text));
}

// Moves the texts into one; without memory for that they stay where they are.
std::string JoinAndForget(std::list<std::string>& texts) {
  std::string joined;
  if (texts.empty()) return joined;
  joined = texts.front();
  if (texts.size() > 1) joined += "\nTraceBack (most recent call last):";
  for (auto text = std::next(texts.begin()); text != texts.end(); ++text) {
    joined += "\n        " + *text;
  }
  joined += '\n';
  texts.clear();
  return joined;
}

std::string TakeInScope() {
  ProcessMessages& process = Process();
  if (process.scope.load(std::memory_order_relaxed) == MessageScope::kThread) {
    return JoinAndForget(TextsOfThisThread().pending);
  }
  const std::lock_guard lock(process.mutex);
  return JoinAndForget(process.texts);
}

}  // namespace

void SetMessageScope(MessageScope scope) {
  Process().scope.store(scope, std::memory_order_relaxed);
}

const char* TakeRecentMessages() {
  std::string& returned = TextsOfThisThread().returned;
  returned = TakeInScope();
  return returned.empty() ? nullptr : returned.c_str();
}

int32_t LastError() { return ThisThread().last_error; }

void ClearLastError() { ThisThread().last_error = 0; }

int32_t Report(const char* function, const Status& status, const char* file, int line) noexcept {
  ThisThread().last_error = status.code();
  try {
    Log(LevelOf(status.code()), ModuleOf(status.message_code()),
        fmt::format("{}: {} (code {})", function, status.text(), status.code()), file, line);
    KeepInScope(fmt::format("[PID: {}] {} {}({}): {}: {}", getpid(), LocalTimestamp(),
                            TitleOf(status.message_code()), status.message_code(), function,
                            status.text()));
  } catch (...) {
    // No memory for the words. The code still tells.
  }
  return status.code();
}

int32_t ReportException(const char* function, ApiFamily family) noexcept {
  const bool aclnn = family == ApiFamily::kAclnn;
  const int32_t code = aclnn ? kAclnnInnerError : ACL_ERROR_INTERNAL_ERROR;
  const char* const message_code = aclnn ? "EZ9999" : "EH9999";
  // The short texts fit a string without allocation, so that no handler throws.
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Report(function, Status(aclnn ? code : ACL_ERROR_BAD_ALLOC,
                                   aclnn ? message_code : "EH0010", "no host memory"));
  } catch (const std::exception& error) {
    try {
      return Report(function, Status(code, message_code, error.what()));
    } catch (...) {
    }
  } catch (...) {
  }
  return Report(function, Status(code, message_code, "exception"));
}

}  // namespace mlmargin::runtime
