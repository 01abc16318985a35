// SPDX-License-Identifier: Apache-2.0
// The outcome of a call of the C++ API: errors are values. Only a function that returns a string,
// or a status with words, may throw std::bad_alloc.
#ifndef MLMARGIN_STATUS_H_
#define MLMARGIN_STATUS_H_

#include <string>
#include <utility>

namespace mlmargin {

// What a call came to.
enum class StatusCode {
  kOk,
  kInvalidArgument,  // An argument is wrong; nothing was written.
  kLabelOutOfRange,  // A label is outside [0, classes) and LossArguments::reject_bad_labels is set;
                     // nothing was written.
  kOutOfMemory,      // Memory or a thread could not be had; outputs are unspecified.
};

// A code, and for an error what was wrong.
class [[nodiscard]] Status {
 public:
  Status() = default;  // kOk.
  // `message` is to name the argument, what was expected and what came.
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }  // Success.
  StatusCode code() const { return code_; }             // What kind of error.
  // Names the argument, what was expected and what came; empty on success.
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

}  // namespace mlmargin

#endif  // MLMARGIN_STATUS_H_
