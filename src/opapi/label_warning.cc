// SPDX-License-Identifier: Apache-2.0
#include "opapi/label_warning.h"

#include <fmt/core.h>

#include "runtime/private_api.h"

namespace mlmargin::opapi {
namespace {

// 1 to 10, then 20, 40, 80, ...
bool IsLogged(uint64_t call) {
  if (call <= 10) return true;
  if (call % 10 != 0) return false;
  const uint64_t tens = call / 10;
  return (tens & (tens - 1)) == 0;
}

}  // namespace

void WarnAboutLabels(const char* function, uint64_t nth_call, const BadLabels& bad_labels,
                     int64_t classes) {
  if (!IsLogged(nth_call)) return;
  runtime::Log(ACL_WARNING, "OP",
               fmt::format("{}: target: {} labels outside [-1, {}] were "
                           "skipped, the first is {} at row {}, position {} (call {} with such "
                           "labels; MLMARGIN_LABEL_CHECK=error makes it an error)",
                           function, bad_labels.count, classes - 1, bad_labels.value,
                           bad_labels.row, bad_labels.column, nth_call));
}

}  // namespace mlmargin::opapi
