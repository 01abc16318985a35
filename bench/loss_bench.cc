// SPDX-License-Identifier: Apache-2.0
// Two figures of the operator: its time over the memory traffic it cannot avoid, at 5 labels a row,
// and the time of one small call. What is compared is run in turns; minima are printed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_multilabel_margin_loss.h"
#include "mlmargin/multilabel_margin_loss.h"
#include "mlmargin/settings.h"

namespace {

using Clock = std::chrono::steady_clock;

void Require(bool ok, const char* what) {
  if (ok) return;
  const char* const message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed: %s\n", what, message == nullptr ? "" : message);
  std::exit(1);
}

template <typename Work>
double Seconds(Work&& work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Reads the scores once and clears the mask, block by block as the kernel does: the floor.
float ReadAndClear(const std::vector<float>& scores, std::vector<float>* mask) {
  constexpr size_t kBlock = 2048, kLanes = 16;
  float sums[kLanes] = {};
  for (size_t begin = 0; begin < scores.size(); begin += kBlock) {
    const size_t size = std::min(kBlock, scores.size() - begin);
    std::memset(mask->data() + begin, 0, size * sizeof(float));
    for (size_t i = 0; i + kLanes <= size; i += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += scores[begin + i + lane];
    }
  }
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

void BenchOverFloor(int64_t rows, int64_t classes) {
  constexpr int64_t kLabels = 5;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto size = static_cast<size_t>(rows * classes);
  std::vector<float> scores(size), mask(size);
  for (float& score : scores) score = normal(random);
  std::vector<int64_t> labels(size, -1);
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t l = 0; l < kLabels; ++l) {
      labels[static_cast<size_t>(n * classes + l)] = static_cast<int64_t>(random()) % classes;
    }
  }
  std::vector<double> row_losses(static_cast<size_t>(rows));
  float loss = 0;
  mlmargin::LossArguments call;
  call.rows = rows;
  call.classes = classes;
  call.scores = {scores.data(), classes, 1};
  call.labels = {labels.data(), classes, 1};
  call.label_columns = classes;
  call.loss = &loss;
  call.mask = {mask.data(), classes, 1};
  call.row_losses = row_losses.data();
  double floor = std::numeric_limits<double>::infinity(), ours = floor;
  volatile float sink = 0;
  for (int turn = 0; turn < 15; ++turn) {
    floor = std::min(floor, Seconds([&] { sink = sink + ReadAndClear(scores, &mask); }));
    ours = std::min(ours, Seconds([&] {
                      Require(mlmargin::MultilabelMarginLoss(call, nullptr).ok(), "the loss");
                    }));
  }
  const double bytes = 8.0 * static_cast<double>(size);
  std::printf("%8lld x %-8lld %8.3f ms %8.3f ms %7.2f %8.1f GB/s\n", static_cast<long long>(rows),
              static_cast<long long>(classes), ours * 1e3, floor * 1e3, ours / floor,
              bytes / ours * 1e-9);
}

template <typename T>
aclTensor* MakeTensor(const std::vector<int64_t>& shape, aclDataType dtype,
                      const std::vector<T>& values) {
  void* data = nullptr;
  const size_t bytes = values.size() * sizeof(T);
  Require(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0, "aclrtMalloc");
  Require(aclrtMemcpy(data, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE) == 0,
          "aclrtMemcpy");
  return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                         shape.size(), data);
}

// Phase 1, phase 2 and the wait, as a program makes them.
void BenchSmallCall() {
  Require(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0, "aclInit");
  aclTensor* const self = MakeTensor<float>({2, 3}, ACL_FLOAT, {0, 1, 2, 3, 4, 5});
  aclTensor* const target = MakeTensor<int64_t>({2, 3}, ACL_INT64, {0, 1, -1, 2, -1, -1});
  aclTensor* const out = MakeTensor<float>({2}, ACL_FLOAT, {0, 0});
  aclTensor* const mask = MakeTensor<float>({2, 3}, ACL_FLOAT, {0, 0, 0, 0, 0, 0});
  constexpr int kCalls = 2000;
  std::vector<double> times;
  for (int turn = 0; turn < 101; ++turn) {
    times.push_back(Seconds([&] {
                      for (int call = 0; call < kCalls; ++call) {
                        uint64_t bytes = 0;
                        aclOpExecutor* executor = nullptr;
                        Require(aclnnMultilabelMarginLossGetWorkspaceSize(
                                    self, target, 0, out, mask, &bytes, &executor) == 0,
                                "phase 1");
                        Require(aclnnMultilabelMarginLoss(nullptr, 0, executor, nullptr) == 0,
                                "phase 2");
                        Require(aclrtSynchronizeStream(nullptr) == 0, "the wait");
                      }
                    }) /
                    kCalls);
  }
  std::sort(times.begin(), times.end());
  std::printf("one 2 x 3 call (phase 1, phase 2, wait): %.2f us minimum, %.2f us median\n",
              times.front() * 1e6, times[times.size() / 2] * 1e6);
  for (const aclTensor* tensor : {self, target, out, mask}) {
    void* data = nullptr;
    Require(aclGetRawTensorAddr(tensor, &data) == 0 && aclrtFree(data) == 0 &&
                aclDestroyTensor(tensor) == 0,
            "clean-up");
  }
  Require(aclrtResetDevice(0) == 0 && aclFinalize() == 0, "aclFinalize");
}

}  // namespace

int main() {
  std::printf("target %s, float32, int64 labels, 5 a row, mean, mask written\n\n",
              mlmargin::Target().c_str());
  for (const int threads : {1, 0}) {
    Require(mlmargin::SetNumThreads(threads).ok(), "SetNumThreads");
    std::printf("%d thread(s)\n    rows x classes        loss       floor   ratio\n",
                mlmargin::NumThreads());
    for (const auto& [rows, classes] : {std::pair<int64_t, int64_t>{4096, 101},
                                        {1024, 3993},
                                        {512, 13330},
                                        {24, 670091},
                                        {1, 2812281}}) {
      BenchOverFloor(rows, classes);
    }
    std::printf("\n");
  }
  BenchSmallCall();
}
