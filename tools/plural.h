// SPDX-License-Identifier: Apache-2.0
#ifndef TOOLS_PLURAL_H_
#define TOOLS_PLURAL_H_

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace mlmargin::tools {

// "1 row", "2 rows".
inline std::string CountOf(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace mlmargin::tools

#endif  // TOOLS_PLURAL_H_
