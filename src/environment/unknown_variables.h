// SPDX-License-Identifier: Apache-2.0
// A setting that is misspelt does nothing, in silence; so it is named.
#ifndef MLMARGIN_ENVIRONMENT_UNKNOWN_VARIABLES_H_
#define MLMARGIN_ENVIRONMENT_UNKNOWN_VARIABLES_H_

#include <string_view>

namespace mlmargin::environment {

// The setting that a variable's name may have been meant for: at most three letters away, and at
// most a third of those behind MLMARGIN_. Empty if there is none.
std::string_view MeantSetting(std::string_view name) noexcept;

// Writes a line on standard error for each variable of the environment that begins with MLMARGIN_
// and that nothing reads. Once in a process, whichever library comes first. Allocates nothing.
void NameUnknownVariables() noexcept;

}  // namespace mlmargin::environment

#endif  // MLMARGIN_ENVIRONMENT_UNKNOWN_VARIABLES_H_
