// SPDX-License-Identifier: Apache-2.0
#ifndef MLMARGIN_ENVIRONMENT_EDIT_DISTANCE_H_
#define MLMARGIN_ENVIRONMENT_EDIT_DISTANCE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>

namespace mlmargin::environment {

constexpr size_t kMaxName = 64;

// Levenshtein's: the fewest letters to insert, remove and change, row by row of the table of all
// pairs of beginnings. `to` has at most kMaxName letters. Allocates nothing.
inline size_t EditDistance(std::string_view from, std::string_view to) {
  std::array<size_t, kMaxName + 1> row{};
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[to.size()];
}

}  // namespace mlmargin::environment

#endif  // MLMARGIN_ENVIRONMENT_EDIT_DISTANCE_H_
