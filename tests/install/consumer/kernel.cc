// SPDX-License-Identifier: Apache-2.0
// The same row through the C++ API of the kernels. Returns 0 if its loss is right.
#include <cstdint>
#include <cstdio>

#include "mlmargin/multilabel_margin_loss.h"
#include "mlmargin/settings.h"
#include "mlmargin/version.h"

static_assert(MLMARGIN_VERSION_MAJOR >= 0, "the version is in the installed header");

int main() {
  const float scores[] = {2.0F, 1.5F, 0.0F};
  const int32_t labels[] = {0, -1, -1};
  float loss = -1;
  mlmargin::LossArguments arguments;
  arguments.rows = 1;
  arguments.classes = 3;
  arguments.label_type = mlmargin::LabelType::kInt32;
  arguments.reduction = mlmargin::Reduction::kNone;
  arguments.scores = {scores, 3, 1};
  arguments.labels = {labels, 3, 1};
  arguments.label_columns = 3;
  arguments.loss = &loss;
  const mlmargin::Status status = mlmargin::MultilabelMarginLoss(arguments, nullptr);
  std::printf("loss %g on %s %s\n", static_cast<double>(loss), mlmargin::Target().c_str(),
              status.message().c_str());
  return status.ok() && loss == 0.5F / 3.0F ? 0 : 1;
}
