// SPDX-License-Identifier: Apache-2.0
// The commands of mlmargin. Each returns the exit status; what stops it is a ToolError.
#ifndef TOOLS_COMMANDS_H_
#define TOOLS_COMMANDS_H_

#include <string>

#include "labels.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::tools {

struct LossOptions {
  BatchFiles files;
  Reduction reduction = Reduction::kMean;
  // Files to write; "-" prints, "" leaves it out.
  std::string output = "-";
  std::string mask;
  std::string gradient;
  int threads = 0;
  bool json = false;
};
int RunLoss(const LossOptions& options);

// 1 if something is wrong with the labels.
struct CheckOptions {
  BatchFiles files;
  bool json = false;
};
int RunCheck(const CheckOptions& options);

struct BenchOptions {
  std::string filter;
  int threads = 0;
  bool json = false;
};
int RunBench(const BenchOptions& options);

int RunInfo(bool json);

}  // namespace mlmargin::tools

#endif  // TOOLS_COMMANDS_H_
