// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "machine.h"

namespace mlmargin::bench {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Machine& machine) {
  return {{"cpu", machine.cpu},
          {"cpus", machine.cpus},
          {"architecture", machine.architecture},
          {"kernel", machine.kernel},
          {"l2_bytes", machine.l2_bytes},
          {"l3_bytes", machine.l3_bytes},
          {"memory_bytes", machine.memory_bytes},
          {"compiler", machine.compiler},
          {"build_type", machine.build_type},
          {"target", machine.target},
          {"version", machine.version},
          {"date", machine.date}};
}

// The scores are read once and a mask or a gradient of the same type is written.
double Bytes(const Case& what) {
  const double element_bytes = what.score_type == ScoreType::kFloat32 ? 4 : 2;
  return 2 * element_bytes * static_cast<double>(what.shape.rows * what.shape.classes);
}

Json ToJson(const Measurement& measurement) {
  const Case& what = measurement.what;
  const Comparison& times = measurement.times;
  Json json = {{"group", what.shape.group},
               {"name", what.shape.name},
               {"rows", what.shape.rows},
               {"classes", what.shape.classes},
               {"labels", what.shape.labels},
               {"score_type", ScoreTypeName(what.score_type)},
               {"label_type", LabelTypeName(what.label_type)},
               {"threads", what.threads},
               {"pass", PassName(what.pass)},
               {"turns", times.turns},
               {"seconds", times.seconds},
               {"median_seconds", times.median_seconds},
               {"floor_seconds", times.floor_seconds},
               {"floor_way", times.floor_way},
               {"streamed_floor_seconds", times.streamed_floor_seconds},
               {"ratio", times.seconds / times.floor_seconds},
               {"bytes_per_second", Bytes(what) / times.seconds},
               {"peak_extra_bytes", nullptr},
               {"pytorch", nullptr}};
  if (measurement.extra_bytes) json["peak_extra_bytes"] = *measurement.extra_bytes;
  if (const auto& pytorch = measurement.pytorch) {
    json["pytorch"] = {{"rows", pytorch->rows},
                       {"turns", pytorch->turns},
                       {"seconds", pytorch->seconds},
                       {"speed_up", pytorch->seconds / times.seconds}};
  }
  return json;
}

std::string TypesName(const Case& what) {
  if (what.pass != Pass::kLoss) return PassName(what.pass);
  return fmt::format("{}/{}", ScoreTypeName(what.score_type), LabelTypeName(what.label_type));
}

}  // namespace

Report::Report(const std::string& pytorch_version, const Limits& limits) {
  json_["machine"] = ToJson(DescribeMachine());
  json_["machine"]["pytorch"] = pytorch_version.empty() ? Json(nullptr) : Json(pytorch_version);
  json_["min_turns"] = limits.min_turns;
  json_["min_seconds"] = limits.min_seconds;
  json_["cases"] = Json::array();
  json_["small_call"] = nullptr;
}

void Report::PrintMachine() const {
  const Json& machine = json_["machine"];
  const auto word = [&](const char* key) { return machine[key].get<std::string>(); };
  fmt::print("mlmargin {}, target {}, {}, {} build, {}\n", word("version"), word("target"),
             word("compiler"), word("build_type"), word("date"));
  fmt::print("{}, {} CPUs, {}, PyTorch {}\n", word("cpu"), machine["cpus"].get<int>(),
             word("kernel"), machine["pytorch"].is_null() ? "-" : word("pytorch"));
  fmt::print(
      "Minima of turns. The floor reads the scores once and writes the mask, with ordinary stores; "
      "the\nstreamed one writes it past the caches. The ratio is to the former.\n");
}

void Report::Add(const Measurement& measurement) {
  const Case& what = measurement.what;
  const Comparison& times = measurement.times;
  if (group_ != what.shape.group) {
    group_ = what.shape.group;
    fmt::print(
        "\n{:<11}{:<17}{:>13}{:>7}  {:<15}{:>4}{:>11}{:>10}{:>10}{:>9}{:>7}{:>10}{:>12}{:>9}\n",
        group_, "", "shape", "labels", "types", "thr", "time ms", "floor ms", "streamed", "ratio",
        "GB/s", "heap KiB", "PyTorch ms", "speed-up");
  }
  std::string pytorch_ms = "-", speed_up = "-";
  if (const auto& pytorch = measurement.pytorch) {
    pytorch_ms =
        fmt::format("{:.4g}{}", pytorch->seconds * 1e3, pytorch->rows < what.shape.rows ? "*" : "");
    speed_up = fmt::format("{:.1f}", pytorch->seconds / times.seconds);
  }
  const std::string extra =
      measurement.extra_bytes
          ? fmt::format("{:.1f}", static_cast<double>(*measurement.extra_bytes) / 1024)
          : "-";
  fmt::print(
      "{:<28}{:>13}{:>7}  "
      "{:<15}{:>4}{:>11.4f}{:>10.4f}{:>10.4f}{:>9.2f}{:>7.1f}{:>10}{:>12}{:>9}\n",
      what.shape.name, fmt::format("{}x{}", what.shape.rows, what.shape.classes), what.shape.labels,
      TypesName(what), what.threads, times.seconds * 1e3, times.floor_seconds * 1e3,
      times.streamed_floor_seconds * 1e3, times.seconds / times.floor_seconds,
      Bytes(what) / times.seconds * 1e-9, extra, pytorch_ms, speed_up);
  std::fflush(stdout);
  json_["cases"].push_back(ToJson(measurement));
}

void Report::Add(const SmallCallTimes& times) {
  group_.clear();
  fmt::print("\nOne 2 x 3 call (phase 1, phase 2, wait): {:.2f} us minimum, {:.2f} us median",
             times.seconds * 1e6, times.median_seconds * 1e6);
  Json json = {{"seconds", times.seconds}, {"median_seconds", times.median_seconds}};
  json["pytorch"] = nullptr;
  if (const auto& pytorch = times.pytorch) {
    fmt::print("; PyTorch's operator {:.2f} us, torch.nn.functional {:.2f} us",
               pytorch->operator_seconds * 1e6, pytorch->functional_seconds * 1e6);
    const double faster = std::min(pytorch->operator_seconds, pytorch->functional_seconds);
    json["pytorch"] = {{"operator_seconds", pytorch->operator_seconds},
                       {"functional_seconds", pytorch->functional_seconds},
                       {"speed_up", faster / times.seconds}};
  }
  fmt::print("\n");
  std::fflush(stdout);
  json_["small_call"] = std::move(json);
}

void Report::WriteJson(const std::string& path) const {
  std::ofstream file(path);
  file << json_.dump(1) << '\n';
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace mlmargin::bench
