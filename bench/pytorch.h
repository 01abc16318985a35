// SPDX-License-Identifier: Apache-2.0
// PyTorch's loss on the same data, in a Python process beside this one, so that the turns can
// interleave and this program needs no PyTorch to build.
#ifndef BENCH_PYTORCH_H_
#define BENCH_PYTORCH_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "batch.h"

namespace mlmargin::bench {

// Owns the process, which ends with this. Errors are std::runtime_error.
class PyTorch {
 public:
  // Starts Debian's Python with `worker`, the path of pytorch_worker.py.
  explicit PyTorch(const std::string& worker);
  ~PyTorch();
  PyTorch(const PyTorch&) = delete;
  PyTorch& operator=(const PyTorch&) = delete;

  // Whether torch and numpy could be imported; nothing else may be called if not.
  bool available() const { return available_; }
  // Of torch; or why it is not available.
  const std::string& version() const { return version_; }

  // How many rows of the shape are bearable, given that it takes some 4 ns for each pair of a
  // label and a class.
  static int64_t BearableRows(const Shape& shape);

  // Gives it the first `rows` rows.
  void Load(const Tensors& tensors, int64_t rows);
  void Unload();

  struct Result {
    double seconds;  // The fastest of the calls.
    double loss;     // Their mean.
  };
  // Calls torch.nn.functional.multilabel_margin_loss, one thread, until `seconds` are over, at
  // least once.
  Result Run(double seconds);

  struct SmallCall {
    double operator_seconds;    // torch.ops.aten.multilabel_margin_loss_forward
    double functional_seconds;  // torch.nn.functional.multilabel_margin_loss
  };
  // Means over `calls` calls on 2 x 3.
  SmallCall RunSmall(int calls);

 private:
  std::string ReadLine();
  // Sends the line and returns the rest of an answer that begins with `expected`.
  std::string Ask(const std::string& line, std::string_view expected);

  pid_t process_ = -1;
  int to_ = -1;
  std::FILE* from_ = nullptr;
  bool available_ = false;
  std::string version_;
};

}  // namespace mlmargin::bench

#endif  // BENCH_PYTORCH_H_
