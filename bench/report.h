// SPDX-License-Identifier: Apache-2.0
// What came out: a line each as it comes, and all of it as JSON, from which report.py makes the
// page in docs/.
#ifndef BENCH_REPORT_H_
#define BENCH_REPORT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cases.h"
#include "measure.h"
#include "small_call.h"

namespace mlmargin::bench {

struct PyTorchTimes {
  int64_t rows = 0;  // That it was given.
  int turns = 0;
  double seconds = 0;  // The minimum, scaled to all rows of the case.
};

struct Measurement {
  Case what;
  Comparison times;
  std::optional<int64_t> extra_bytes;
  std::optional<PyTorchTimes> pytorch;
};

class Report {
 public:
  // `pytorch_version` is empty where there is none.
  Report(const std::string& pytorch_version, const Limits& limits);

  void PrintMachine() const;
  // Prints the case; a heading comes with the first one of a group.
  void Add(const Measurement& measurement);
  void Add(const SmallCallTimes& times);

  // Throws std::runtime_error if the file cannot be written.
  void WriteJson(const std::string& path) const;

 private:
  nlohmann::ordered_json json_;
  std::string group_;
};

}  // namespace mlmargin::bench

#endif  // BENCH_REPORT_H_
