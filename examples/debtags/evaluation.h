// SPDX-License-Identifier: Apache-2.0
// How good a tagger is: its loss, computed on the device, and its precision.
#ifndef MLMARGIN_EXAMPLES_DEBTAGS_EVALUATION_H_
#define MLMARGIN_EXAMPLES_DEBTAGS_EVALUATION_H_

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "debtags/acl_loss.h"
#include "debtags/dataset.h"
#include "debtags/tagger.h"

namespace debtags {

struct Quality {
  std::vector<float> losses;  // One an example.
  double mean_loss = 0;
  double loss_milliseconds = 0;  // What the device needed for the losses.
  double precision_at_1 = 0;  // How often the tag with the highest score is a tag of the package.
  double precision_at_5 = 0;  // Mean fraction of the five highest.
};

// Called with the number of examples done so far.
using Progress = std::function<void(size_t)>;

class Evaluator {
 public:
  explicit Evaluator(size_t num_tags);

  // Scores all examples (at least one) in batches; one is filled while the other is computed.
  Quality Evaluate(const Tagger& tagger, const Knobs& knobs, std::span<const Example> examples,
                   const Progress& progress = {});

  // Of the `choices`, the one with the lowest mean loss.
  Knobs Tune(const Tagger& tagger, std::span<const Knobs> choices,
             std::span<const Example> examples, const Progress& progress = {});

 private:
  size_t num_tags_;
  LossBatch batches_[2];
};

}  // namespace debtags

#endif  // MLMARGIN_EXAMPLES_DEBTAGS_EVALUATION_H_
