// SPDX-License-Identifier: Apache-2.0
// Scores of 256 levels, so that the exact loss and gradient of a row of any length follow from two
// histograms: of the levels of its labels, and of its other classes.
#ifndef MLMARGIN_TESTS_SIZE_LEVEL_SCORES_H_
#define MLMARGIN_TESTS_SIZE_LEVEL_SCORES_H_

#include <array>
#include <cstdint>
#include <map>

#include "support/exact_loss.h"

namespace mlmargin::testing {

inline constexpr int kLevels = 256;

// Level a is the score (a - 128) / 64, which every floating-point type holds exactly.
uint32_t LevelBits(const FloatFormat& format, int level);
int LevelOf(const FloatFormat& format, uint32_t bits);

class LevelRow {
 public:
  // `count` classes of that level that are no labels; may be negative.
  void AddOthers(int level, int64_t count) { others_[static_cast<size_t>(level)] += count; }
  // All of another row, so many times.
  void AddOthers(const LevelRow& row, int64_t times);
  // Entries of the label list of that level.
  void AddLabels(int level, int64_t count) { labels_[static_cast<size_t>(level)] += count; }

  // The sum of the row's hinges, not divided by C.
  ExactValue Sum() const;
  // How many pairs a class of that level is active in, as a label or as no label.
  int64_t ActiveOthers(int label_level) const;
  int64_t ActiveLabels(int other_level) const;

 private:
  std::array<int64_t, kLevels> labels_{};
  std::array<int64_t, kLevels> others_{};
};

// Pseudo-random scores as bit patterns of 16 or 32 bits, the same for the same seed.
void FillLevels(const FloatFormat& format, uint64_t seed, int64_t count, void* scores);

// Element `index` of an array of the format.
uint32_t BitsAt(const FloatFormat& format, const void* data, int64_t index);

// A list of labels: how often each is in it.
using LabelCounts = std::map<int64_t, int64_t>;

// The row of so many scores in memory.
LevelRow ReadLevels(const FloatFormat& format, const void* scores, int64_t classes);
// Makes classes of the row labels.
void SetLabels(const FloatFormat& format, const void* scores, const LabelCounts& labels,
               LevelRow* row);

// Which of the classes [begin, end) of a row of `classes` has a wrong gradient, or -1: that of a
// mean or sum over one row, times grad_loss. Each is within 1 ulp, and classes of the same level,
// but for labels, have the same. `scores` and `gradient` are the row's first elements.
int64_t FindWrongGradient(const FloatFormat& format, const LevelRow& row, int64_t classes,
                          const LabelCounts& labels, const void* scores, const void* gradient,
                          double grad_loss, int64_t begin, int64_t end);
// The same for a mask.
int64_t FindWrongMask(const FloatFormat& format, const LabelCounts& labels, const void* mask,
                      int64_t begin, int64_t end);

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_SIZE_LEVEL_SCORES_H_
