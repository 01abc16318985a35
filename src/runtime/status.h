// SPDX-License-Identifier: Apache-2.0
// The outcome of a check or an action: success, or an ACL/aclnn status code with words.
#ifndef MLMARGIN_RUNTIME_STATUS_H_
#define MLMARGIN_RUNTIME_STATUS_H_

#include <cstdint>
#include <string>
#include <utility>

namespace mlmargin::runtime {

// A success costs one integer and an empty string. A failure carries the status code, the
// six-character message code that titles it (error_report.cc maps EH0007 to Invalid_Argument and
// so on) and a sentence that names the argument, what was expected and what came.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(int32_t code, const char* message_code, std::string text)
      : code_(code), message_code_(message_code), text_(std::move(text)) {}

  bool ok() const { return code_ == 0; }
  int32_t code() const { return code_; }
  const char* message_code() const { return message_code_; }
  const std::string& text() const { return text_; }

 private:
  int32_t code_ = 0;
  const char* message_code_ = "";
  std::string text_;
};

}  // namespace mlmargin::runtime

// Returns from the calling function with the first status that is not ok.
#define MLMARGIN_RETURN_IF_ERROR(expression)                    \
  do {                                                          \
    ::mlmargin::runtime::Status mlmargin_status = (expression); \
    if (!mlmargin_status.ok()) return mlmargin_status;          \
  } while (false)

#endif  // MLMARGIN_RUNTIME_STATUS_H_
