// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace mlmargin::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSampleSeconds = 20e-6;
constexpr double kTurnSeconds = 1e-3;
constexpr double kLongRunSeconds = 0.1;
// A slow case may end before its last turns.
constexpr double kLongCaseSeconds = 6;
constexpr int kMinTurnsOfLongCase = 3;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

double Contender::TimeRuns(int runs) const {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < runs; ++i) run_();
  return SecondsSince(start) / runs;
}

void Contender::TakeTurn() {
  if (runs_per_sample_ == 0) {
    // The second run, since the first may have pages to fetch and threads to start.
    double seconds = TimeRuns(1);
    if (seconds < kLongRunSeconds) seconds = TimeRuns(1);
    runs_per_sample_ = static_cast<int>(kSampleSeconds / std::max(seconds, 1e-9)) + 1;
  }
  const Clock::time_point start = Clock::now();
  for (int taken = 0; taken == 0 || SecondsSince(start) < kTurnSeconds ||
                      (taken == 1 && samples_.back() < kLongRunSeconds);
       ++taken) {
    samples_.push_back(TimeRuns(runs_per_sample_));
  }
}

double Contender::Minimum() const { return *std::min_element(samples_.begin(), samples_.end()); }

double Contender::Median() const {
  std::vector<double> sorted = samples_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

Comparison Compare(const std::vector<FloorWay>& floor_ways, std::function<void()> ours,
                   const Limits& limits, const std::function<void(double fraction)>& between) {
  std::vector<Contender> floors;
  for (const FloorWay& way : floor_ways) floors.emplace_back(way.run);
  Contender us(std::move(ours));
  Comparison result;
  for (double seconds = 0; (result.turns < limits.min_turns || seconds < limits.min_seconds) &&
                           (result.turns < kMinTurnsOfLongCase || seconds < kLongCaseSeconds);
       ++result.turns) {
    const Clock::time_point start = Clock::now();
    for (Contender& floor : floors) floor.TakeTurn();
    us.TakeTurn();
    seconds += SecondsSince(start);
    between(std::min(seconds / limits.min_seconds, (result.turns + 1.0) / limits.min_turns));
  }
  result.seconds = us.Minimum();
  result.median_seconds = us.Median();
  result.floor_seconds = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < floors.size(); ++i) {
    if (floors[i].Minimum() >= result.floor_seconds) continue;
    result.floor_seconds = floors[i].Minimum();
    result.floor_way = floor_ways[i].name;
  }
  return result;
}

}  // namespace mlmargin::bench
