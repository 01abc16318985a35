// SPDX-License-Identifier: Apache-2.0
#ifndef TOOLS_ERROR_H_
#define TOOLS_ERROR_H_

#include <stdexcept>

namespace mlmargin::tools {

// What is wrong with the files or options that the user gave, in words for him.
class ToolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mlmargin::tools

#endif  // TOOLS_ERROR_H_
