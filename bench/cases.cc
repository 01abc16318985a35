// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <fmt/format.h>

#include <array>

namespace mlmargin::bench {
namespace {

// Classes and mean labels of the published ones: the Extreme Classification Repository.
const std::vector<Shape>& TableShapes() {
  static const std::vector<Shape> kShapes = {
      {"published", "Mediamill", 4096, 101, 4},
      {"published", "Delicious", 1024, 983, 19},
      {"published", "EURLex-4K", 1024, 3993, 5},
      {"published", "AmazonCat-13K", 512, 13330, 5},
      {"published", "Wiki10-31K", 128, 30938, 19},
      {"published", "Delicious-200K", 16, 205443, 76},
      {"published", "Wikipedia-500K", 32, 501070, 5},
      {"published", "Amazon-670K", 24, 670091, 5},
      {"published", "Amazon-3M", 1, 2812281, 36},
      {"trained", "Wiki10-31K", 128, 30938, 19, ScoreKind::kTrained},
      {"trained", "Delicious-200K", 16, 205443, 76, ScoreKind::kTrained},
      {"half-dense", "1024", 256, 1024, 512},
      {"half-dense", "4096", 64, 4096, 2048},
      {"half-dense", "65536", 4, 65536, 32768},
      {"tiny", "16", 8192, 16, 2},
      {"tiny", "2", 4096, 2, 1},
  };
  return kShapes;
}

std::vector<Shape> LabelSweep() {
  std::vector<Shape> shapes;
  for (const int labels : {1, 2, 4, 8, 16, 24, 32, 48, 64, 128, 256, 1024, 4096}) {
    shapes.push_back({"labels", fmt::format("{}", labels), 32, 8192, labels});
  }
  return shapes;
}

// 1, 2, 3, ... where that is not too many, else doubling.
std::vector<int> ThreadSweep(int max_threads) {
  std::vector<int> counts;
  for (int count = 1; count<max_threads; count += max_threads> 16 ? count : 1) {
    counts.push_back(count);
  }
  counts.push_back(max_threads);
  return counts;
}

std::vector<Shape> ThreadShapes() {
  std::vector<Shape> shapes;
  for (const Shape& shape : TableShapes()) {
    const bool wanted =
        shape.group == "published"
            ? shape.name == "Wiki10-31K" || shape.name == "Amazon-670K" || shape.name == "Amazon-3M"
            : shape.group == "half-dense" && shape.name == "4096";
    if (!wanted) continue;
    shapes.push_back(shape);
    shapes.back().group = "threads";
    if (shape.group == "half-dense") shapes.back().name = "half-dense 4096";
  }
  return shapes;
}

}  // namespace

const char* ScoreTypeName(ScoreType type) {
  switch (type) {
    case ScoreType::kFloat32:
      return "float32";
    case ScoreType::kFloat16:
      return "float16";
    case ScoreType::kBFloat16:
      return "bfloat16";
    case ScoreType::kFloat64:
      return "float64";
  }
  return "";
}

const char* LabelTypeName(LabelType type) { return type == LabelType::kInt32 ? "int32" : "int64"; }

const char* PassName(Pass pass) {
  switch (pass) {
    case Pass::kLoss:
      return "loss";
    case Pass::kBackward:
      return "backward";
    case Pass::kFused:
      return "fused";
  }
  return "";
}

std::string Case::Name() const {
  return fmt::format("{}/{}/{}/{}/{}/{}", shape.group, shape.name, ScoreTypeName(score_type),
                     LabelTypeName(label_type), threads, PassName(pass));
}

std::vector<Case> AllCases(const std::vector<int>& thread_counts, int max_threads) {
  std::vector<Case> cases;
  for (const Shape& shape : TableShapes()) {
    for (const Pass pass : {Pass::kBackward, Pass::kFused}) {
      for (const int threads : thread_counts) {
        cases.push_back({shape, ScoreType::kFloat32, LabelType::kInt64, threads, false, pass});
      }
    }
    for (const ScoreType score : {ScoreType::kFloat32, ScoreType::kFloat16, ScoreType::kBFloat16}) {
      for (const LabelType label : {LabelType::kInt64, LabelType::kInt32}) {
        const bool pytorch_has_it = score == ScoreType::kFloat32 && label == LabelType::kInt64;
        for (const int threads : thread_counts) {
          cases.push_back({shape, score, label, threads, pytorch_has_it});
        }
      }
    }
  }
  for (const Shape& shape : LabelSweep()) {
    cases.push_back({shape, ScoreType::kFloat32, LabelType::kInt64, 1, true});
  }
  for (const Shape& shape : ThreadShapes()) {
    for (const int threads : ThreadSweep(max_threads)) {
      cases.push_back({shape, ScoreType::kFloat32, LabelType::kInt64, threads, false});
    }
  }
  return cases;
}

}  // namespace mlmargin::bench
