// SPDX-License-Identifier: Apache-2.0
// Where the nodes of a search tree over sorted thresholds lie.
#ifndef MLMARGIN_KERNEL_THRESHOLD_TREE_H_
#define MLMARGIN_KERNEL_THRESHOLD_TREE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace mlmargin::kernel {

// A node is kNode thresholds in a row, as many as a cache line holds, and
// begins at one if the array does. The first level has all of
// them, sorted; each further one has the last of each node of the level below; the root is a level
// of one node. Every level is filled up with +inf to whole nodes, and has one +inf at least, so
// that a search always ends within a node.
struct ThresholdTree {
  static constexpr int64_t kNode = 16;
  static constexpr size_t kNodeBytes = kNode * sizeof(float);
  static constexpr int kMaxLevels = 16;

  std::array<int64_t, kMaxLevels> begin;  // Of each level.
  int64_t end;
  int levels;

  explicit constexpr ThresholdTree(int64_t thresholds) : begin(), end(0), levels(0) {
    int64_t nodes = thresholds / kNode + 1;
    for (;;) {
      begin[static_cast<size_t>(levels++)] = end;
      end += nodes * kNode;
      if (nodes == 1) return;
      nodes = (nodes + kNode - 1) / kNode;
    }
  }
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_THRESHOLD_TREE_H_
