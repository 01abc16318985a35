// SPDX-License-Identifier: Apache-2.0
#include "golden_cases.h"

#include <iterator>

#include "golden_random.h"

namespace mlmargin::testing {
namespace {

using Random = GoldenRandom;

constexpr const char* kScoreTypeNames[] = {"float32", "float16", "bfloat16"};
constexpr const char* kLabelTypeNames[] = {"int32", "int64"};
constexpr const char* kReductionNames[] = {"none", "mean", "sum"};
constexpr const char* kDensityNames[] = {"nolabels", "few",     "20",        "40",
                                         "80",       "1000",    "half",      "allbutone",
                                         "all",      "repeats", "outofrange"};
constexpr const char* kSpreadNames[] = {"ordinary", "trained", "close",    "large", "tiny",
                                        "wide",     "special", "constant", "tie"};

template <typename Enum, size_t kCount>
std::string NameIn(const char* const (&names)[kCount], Enum value) {
  return names[static_cast<size_t>(value)];
}

// Around the sizes of vectors and of blocks.
constexpr int64_t kClasses[] = {1,    2,    3,    7,    8,    9,    15,   16,    17,    31,
                                32,   33,   63,   64,   65,   127,  128,  129,   1023,  1024,
                                1025, 2047, 2048, 2049, 4095, 4096, 4097, 20001, 150001};
// Powers of two, so that dividing by the classes keeps a tie.
constexpr int64_t kTieClasses[] = {8, 64, 1024, 2048, 4096, 16384};
constexpr int64_t kNumSpreads = std::ssize(kSpreadNames) - 1;  // kTie has its own cases.
constexpr int64_t kNumDensities = std::ssize(kDensityNames);

// Whether the density is another one than those before it, and cheap enough.
bool IsWanted(GoldenDensity density, int64_t classes) {
  switch (density) {
    case GoldenDensity::kFew:
    case GoldenDensity::k20:
    case GoldenDensity::k80:
      return classes > GoldenLabels(density, classes);
    case GoldenDensity::k40:
      return classes > 40 && classes < 100000;
    case GoldenDensity::k1000:
      return classes > 1000 && classes < 100000;
    case GoldenDensity::kHalf:
    case GoldenDensity::kAllButOne:
      return classes < 10000;
    case GoldenDensity::kAll:
      return classes < 3000;
    default:
      return classes < 100000;
  }
}

// Of how many spreads one is taken: rows by labels is what a case costs.
int64_t SpreadStep(GoldenDensity density, int64_t classes) {
  if (classes > 100000 || density == GoldenDensity::k1000) return 4;
  if (classes > 10000) return 1;
  if (classes > 1000 && density == GoldenDensity::kHalf) return 4;
  const bool nearly_all = density == GoldenDensity::kAllButOne || density == GoldenDensity::kAll;
  if (classes > 1000 && nearly_all) return 8;
  return 2;
}

int64_t NumRows(GoldenDensity density, int64_t classes, Random* random) {
  return GoldenLabels(density, classes) < 500 ? 1 + random->Below(5) : 1;
}

// The sizes go round the spreads and types, so that each meets each.
void AddOrdinaryCases(std::vector<GoldenCase>* cases) {
  for (int64_t size = 0; size < std::ssize(kClasses); ++size) {
    const int64_t classes = kClasses[size];
    for (int64_t d = 0; d < kNumDensities; ++d) {
      const auto density = static_cast<GoldenDensity>(d);
      if (!IsWanted(density, classes)) continue;
      const int64_t step = SpreadStep(density, classes);
      for (int64_t s = (size + d) % step; s < kNumSpreads; s += step) {
        Random random(static_cast<uint64_t>((size * kNumDensities + d) * kNumSpreads + s));
        const int64_t rows = NumRows(density, classes, &random);
        cases->push_back({classes, rows, static_cast<ScoreType>((size + d + s) % 3),
                          static_cast<LabelType>(random.Below(2)),
                          static_cast<Reduction>(random.Below(3)), density,
                          static_cast<GoldenSpread>(s)});
      }
    }
  }
}

void AddTieCases(std::vector<GoldenCase>* cases) {
  for (const int64_t classes : kTieClasses) {
    for (const GoldenDensity density :
         {GoldenDensity::kFew, GoldenDensity::k20, GoldenDensity::k40, GoldenDensity::k80,
          GoldenDensity::k1000, GoldenDensity::kRepeats}) {
      if (!IsWanted(density, classes)) continue;
      if (density == GoldenDensity::k1000 && classes > 4096) continue;
      // binary16 has no numbers small enough.
      for (const ScoreType type : {ScoreType::kFloat32, ScoreType::kBFloat16}) {
        // Many: only now and then does one addition decide.
        int64_t rows = classes > 10000 ? 4 : classes > 2048 ? 8 : 64;
        if (density == GoldenDensity::k1000) rows = 2;
        cases->push_back({classes, rows, type, LabelType::kInt64, Reduction::kNone, density,
                          GoldenSpread::kTie});
      }
    }
  }
}

}  // namespace

int64_t GoldenLabels(GoldenDensity density, int64_t classes) {
  switch (density) {
    case GoldenDensity::kNone:
      return 0;
    case GoldenDensity::kFew:
      return 5;
    case GoldenDensity::k20:
    case GoldenDensity::kRepeats:
      return 20;
    case GoldenDensity::k40:
      return 40;
    case GoldenDensity::k80:
      return 80;
    case GoldenDensity::k1000:
      return 1000;
    case GoldenDensity::kHalf:
      return (classes + 1) / 2;
    case GoldenDensity::kAllButOne:
      return classes - 1;
    case GoldenDensity::kAll:
      return classes;
    case GoldenDensity::kOutOfRange:
      break;
  }
  return 12;
}

std::string GoldenCase::Name() const {
  return "c" + std::to_string(classes) + "_r" + std::to_string(rows) + "_" +
         NameIn(kScoreTypeNames, score_type) + "_" + NameIn(kLabelTypeNames, label_type) + "_" +
         NameIn(kReductionNames, reduction) + "_" + NameIn(kDensityNames, density) + "_" +
         NameIn(kSpreadNames, spread);
}

std::vector<GoldenCase> GoldenCases() {
  std::vector<GoldenCase> cases;
  AddOrdinaryCases(&cases);
  AddTieCases(&cases);
  return cases;
}

}  // namespace mlmargin::testing
