// SPDX-License-Identifier: Apache-2.0
#include "kernel/target.h"

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "hwy/highway.h"
#include "kernel/settings.h"

namespace mlmargin {
namespace kernel {
namespace {

// The targets that were compiled and that this CPU can run, best first.
std::vector<int64_t> UsableTargets() {
  std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  // The baseline of the build may be any target of the list or the portable one below it; Highway
  // lists only what the CPU reports.
  constexpr int64_t kFallback = HWY_TARGETS & (HWY_EMU128 | HWY_SCALAR);
  if (kFallback != 0 && (targets.empty() || targets.back() != kFallback)) {
    targets.push_back(kFallback);
  }
  return targets;
}

struct Choice {
  hwy::ChosenTarget chosen;
  std::atomic<int64_t> target = 0;

  Choice() { Use(UsableTargets().front()); }
  void Use(int64_t new_target) {
    target = new_target;
    chosen.Update(new_target);
  }
};

// Starts with the best target; the environment is settings.cc's matter.
Choice& TheChoice() {
  static Choice* const choice = new Choice;
  return *choice;
}

}  // namespace

size_t TargetIndex() {
  ReadEnvironmentOnce();
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
  return 0;  // One target was compiled: HWY_EXPORT makes a table of one entry.
#else
  return TheChoice().chosen.GetIndex();
#endif
}

Status ForceTarget(std::string_view name) {
  std::string known;
  const std::vector<int64_t> targets = UsableTargets();
  if (name.empty()) {
    TheChoice().Use(targets.front());
    return {};
  }
  for (const int64_t target : targets) {
    if (name == hwy::TargetName(target)) {
      TheChoice().Use(target);
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
  }
  return {StatusCode::kInvalidArgument,
          "target must be one of " + known + ", got \"" + std::string(name) + "\""};
}

std::string TargetInUse() { return hwy::TargetName(TheChoice().target); }

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const int64_t target : UsableTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

}  // namespace kernel
}  // namespace mlmargin
