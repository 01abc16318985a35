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
// A turn does not go on for longer for more samples than kManySamples.
constexpr double kLongTurnSeconds = 0.05;
constexpr int kManySamples = 4;
// A slow case may end before its last turns.
constexpr double kLongCaseSeconds = 6;
constexpr int kMinTurnsOfLongCase = 3;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double MinimumOf(const std::vector<Contender>& contenders, size_t* which) {
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < contenders.size(); ++i) {
    const double seconds = contenders[i].Minimum();
    if (seconds >= least) continue;
    least = seconds;
    *which = i;
  }
  return least;
}

}  // namespace

double Contender::TimeRuns(int runs) const {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < runs; ++i) run_();
  return SecondsSince(start) / runs;
}

int Contender::TakeTurn(int min_samples) {
  if (runs_per_sample_ == 0) {
    // The second run, since the first may have pages to fetch and threads to start.
    double seconds = TimeRuns(1);
    if (seconds < kLongRunSeconds) seconds = TimeRuns(1);
    runs_per_sample_ = static_cast<int>(kSampleSeconds / std::max(seconds, 1e-9)) + 1;
  }
  const Clock::time_point start = Clock::now();
  const auto goes_on = [&](int taken) {
    if (taken == 0) return true;
    const double seconds = SecondsSince(start);
    if (seconds < kTurnSeconds) return true;
    if (taken >= min_samples || samples_.back() >= kLongRunSeconds) return false;
    return taken < kManySamples || seconds < kLongTurnSeconds;
  };
  int taken = 0;
  for (; goes_on(taken); ++taken) samples_.push_back(TimeRuns(runs_per_sample_));
  return taken;
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
  std::vector<Contender> floors, streamed_floors;
  std::vector<std::string> floor_names;
  for (const FloorWay& way : floor_ways) {
    (way.streamed ? streamed_floors : floors).emplace_back(way.run);
    if (!way.streamed) floor_names.push_back(way.name);
  }
  Contender us(std::move(ours));
  Comparison result;
  for (double seconds = 0; (result.turns < limits.min_turns || seconds < limits.min_seconds) &&
                           (result.turns < kMinTurnsOfLongCase || seconds < kLongCaseSeconds);
       ++result.turns) {
    const Clock::time_point start = Clock::now();
    int floor_samples = 0;
    for (Contender& floor : floors) floor_samples += floor.TakeTurn();
    us.TakeTurn(std::max(floor_samples, kManySamples));
    for (Contender& floor : streamed_floors) floor.TakeTurn();
    seconds += SecondsSince(start);
    between(std::min(seconds / limits.min_seconds, (result.turns + 1.0) / limits.min_turns));
  }
  result.seconds = us.Minimum();
  result.median_seconds = us.Median();
  size_t best = 0, best_streamed = 0;
  result.floor_seconds = MinimumOf(floors, &best);
  result.floor_way = floor_names[best];
  result.streamed_floor_seconds = MinimumOf(streamed_floors, &best_streamed);
  return result;
}

}  // namespace mlmargin::bench
