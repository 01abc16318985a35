// SPDX-License-Identifier: Apache-2.0
// Times things in turns, so that what is compared meets the same clock speed and neighbours.
#ifndef BENCH_MEASURE_H_
#define BENCH_MEASURE_H_

#include <functional>
#include <vector>

#include "floor.h"

namespace mlmargin::bench {

struct Limits {
  int min_turns = 7;
  double min_seconds = 0.5;  // Of all turns of a case together.
};

// Something that is timed. In a turn it runs several times, at least twice where that is not long,
// so that it also meets its data in the cache as itself leaves it.
class Contender {
 public:
  explicit Contender(std::function<void()> run) : run_(std::move(run)) {}

  // Takes at least so many samples, unless they are long. Returns how many it took.
  int TakeTurn(int min_samples = 2);

  // Seconds of one run.
  double Minimum() const;
  double Median() const;

 private:
  double TimeRuns(int runs) const;

  std::function<void()> run_;
  int runs_per_sample_ = 0;      // So many that the clock is fine enough.
  std::vector<double> samples_;  // Seconds of one run.
};

struct Comparison {
  double seconds = 0;  // The minima.
  double median_seconds = 0;
  double floor_seconds = 0;  // With ordinary stores.
  std::string floor_way;
  double streamed_floor_seconds = 0;  // With stores past the caches.
  int turns = 0;
};

// Runs the floor's ways and `ours` in turns, and takes as many samples of ours as of the floor's
// ordinary ways together where that is not long: the floor would be the best of more samples. The
// streamed ways are last in a turn, since they leave nothing of the mask in the caches.
// `between(fraction)` is called after each turn, with how much of the least time is over; its own
// time does not count.
Comparison Compare(const std::vector<FloorWay>& floor_ways, std::function<void()> ours,
                   const Limits& limits, const std::function<void(double fraction)>& between);

}  // namespace mlmargin::bench

#endif  // BENCH_MEASURE_H_
