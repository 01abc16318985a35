// SPDX-License-Identifier: Apache-2.0
// The inside of include/mlmargin/settings.h.
#ifndef MLMARGIN_KERNEL_SETTINGS_H_
#define MLMARGIN_KERNEL_SETTINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "mlmargin/settings.h"

namespace mlmargin::kernel {

// Reads the MLMARGIN_* variables of the kernels at the first call.
void ReadEnvironmentOnce();

// In target.cc, which alone knows Highway's numbers.
Status ForceTarget(std::string_view name);
std::string TargetInUse();
std::vector<std::string> TargetNames();

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_SETTINGS_H_
