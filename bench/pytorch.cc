// SPDX-License-Identifier: Apache-2.0
#include "pytorch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace mlmargin::bench {
namespace {

[[noreturn]] void Fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

// A folder in memory where there is one, gone with this.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    const bool in_memory = access("/dev/shm", W_OK | X_OK) == 0;
    std::string path =
        (in_memory ? "/dev/shm" : std::filesystem::temp_directory_path(error).string()) +
        "/mlmargin_bench.XXXXXX";
    if (mkdtemp(path.data()) == nullptr) Fail(errno, "a temporary folder");
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string Write(const char* name, const std::byte* data, size_t size) const {
    const std::string path = path_ + "/" + name;
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) Fail(errno, path.c_str());
    const bool complete = std::fwrite(data, 1, size, file) == size;
    if (std::fclose(file) != 0 || !complete) throw std::runtime_error(path + ": cannot write it");
    return path;
  }

 private:
  std::string path_;
};

// Both ends close in children; adding them as standard input or output keeps that one copy open.
std::array<int, 2> MakePipe() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) Fail(errno, "pipe2");
  return ends;
}

}  // namespace

PyTorch::PyTorch(const std::string& worker) {
  const std::array<int, 2> to = MakePipe(), from = MakePipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  std::array<std::string, 3> words = {"/usr/bin/python3", "-B", worker};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  const int error =
      posix_spawn(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  to_ = to[1];
  from_ = fdopen(from[0], "r");
  if (error != 0) {
    process_ = -1;
    version_ = fmt::format("{} does not start", words[0]);
    return;
  }
  const std::string line = ReadLine();
  const size_t space = std::min(line.find(' '), line.size());
  available_ = line.substr(0, space) == "ready";
  version_ = line.empty() ? "it ended early" : line.substr(std::min(space + 1, line.size()));
}

PyTorch::~PyTorch() {
  close(to_);
  std::fclose(from_);
  if (process_ < 0) return;
  // It may be in the middle of a long call.
  kill(process_, SIGTERM);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

int64_t PyTorch::BearableRows(const Shape& shape) {
  constexpr double kSecondsPerPair = 4.5e-9, kBearableSeconds = 3;
  const double row_seconds =
      kSecondsPerPair * static_cast<double>(shape.labels) * static_cast<double>(shape.classes);
  return std::clamp(static_cast<int64_t>(kBearableSeconds / row_seconds), int64_t{1}, shape.rows);
}

void PyTorch::Load(const Tensors& tensors, int64_t rows) {
  const TemporaryFolder folder;
  const auto count = static_cast<size_t>(rows * tensors.shape.classes);
  const std::string scores = folder.Write("scores", tensors.scores.data(), count * sizeof(float));
  const std::string labels = folder.Write("labels", tensors.labels.data(), count * sizeof(int64_t));
  Ask(fmt::format("load {} {} {} {}", rows, tensors.shape.classes, scores, labels), "loaded");
}

void PyTorch::Unload() { Ask("unload", "unloaded"); }

PyTorch::Result PyTorch::Run(double seconds) {
  std::istringstream answer(Ask(fmt::format("run {}", seconds), "ran"));
  Result result = {};
  answer >> result.seconds >> result.loss;
  return result;
}

PyTorch::SmallCall PyTorch::RunSmall(int calls) {
  std::istringstream answer(Ask(fmt::format("small {}", calls), "small"));
  SmallCall result = {};
  answer >> result.operator_seconds >> result.functional_seconds;
  return result;
}

std::string PyTorch::ReadLine() {
  std::string line;
  for (int c = std::getc(from_); c != EOF && c != '\n'; c = std::getc(from_)) {
    line.push_back(static_cast<char>(c));
  }
  return line;
}

std::string PyTorch::Ask(const std::string& line, std::string_view expected) {
  // A worker that has ended shows as the end of its answers.
  const auto before = signal(SIGPIPE, SIG_IGN);
  dprintf(to_, "%s\n", line.c_str());
  signal(SIGPIPE, before);
  const std::string answer = ReadLine();
  if (!answer.starts_with(expected)) {
    throw std::runtime_error(fmt::format("PyTorch: '{}' was answered with '{}'", line,
                                         answer.empty() ? "nothing" : answer));
  }
  return answer.substr(expected.size());
}

}  // namespace mlmargin::bench
