// SPDX-License-Identifier: Apache-2.0
// The data of a shape, made up once, and the tensors of it that a call is given.
#ifndef BENCH_BATCH_H_
#define BENCH_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cases.h"
#include "mlmargin/multilabel_margin_loss.h"

namespace mlmargin::bench {

// Uninitialised memory that starts on a cache line.
class Buffer {
 public:
  explicit Buffer(size_t size);
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  size_t size_;
  std::unique_ptr<std::byte, Free> data_;
};

struct Batch {
  Shape shape;
  std::vector<float> scores;    // rows x classes.
  std::vector<int64_t> labels;  // rows x labels: uniformly drawn, different within a row.
};

// The same data for the same shape in each run.
Batch MakeBatch(const Shape& shape);

// A batch in the data types of a call: row-major, the labels padded with -1 to the shape of the
// scores, as the operator wants them.
struct Tensors {
  Tensors(const Batch& batch, ScoreType score_type, LabelType label_type);

  // The call on all rows. A gradient goes where the mask would.
  LossArguments Call(Reduction reduction, Pass pass = Pass::kLoss);

  Shape shape;
  ScoreType score_type;
  LabelType label_type;
  Buffer scores;
  Buffer labels;
  Buffer mask;
  Buffer expected_mask;
  std::vector<float> losses;       // Room for one loss a row of any type.
  std::vector<double> row_losses;  // The scratch of the call.
};

// Score number `index` as the call sees it.
double ScoreAt(const Tensors& tensors, size_t index);
// The loss number `index` that a call wrote.
double LossAt(const Tensors& tensors, size_t index);

}  // namespace mlmargin::bench

#endif  // BENCH_BATCH_H_
