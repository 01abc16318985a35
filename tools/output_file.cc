// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <xtensor/xnpy.hpp>

#include "error.h"
#include "file_descriptor.h"

namespace mlmargin::tools {
namespace {

[[noreturn]] void Fail(std::string_view path, std::string_view what) {
  throw ToolError(fmt::format("{}: {}", path, what));
}

// Now, rather than when the work is done. A device, too, would give way to the file.
void CheckReplaceable(const std::string& path) {
  std::error_code ignored;  // What cannot be looked at cannot be opened, either.
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return;
  Fail(path, std::filesystem::is_directory(status)
                 ? "it is a folder; expected the name of a .npy file"
                 : "it is a pipe or a device; expected the name of a .npy file");
}

}  // namespace

OutputFile::OutputFile(std::string path, Element element, const std::vector<int64_t>& shape)
    : path_(std::move(path)), unfinished_path_(path_ + ".unfinished") {
  CheckReplaceable(path_);
  std::ostringstream header;
  xt::detail::write_header(header, DescrOf(element), /*fortran_order=*/false, shape);
  const std::string text = header.str();
  header_bytes_ = text.size();
  size_t bytes = BytesOf(element);
  for (const int64_t size : shape) bytes *= static_cast<size_t>(size);
  file_bytes_ = header_bytes_ + bytes;

  const FileDescriptor file(
      open(unfinished_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.number() < 0) Fail(path_, std::strerror(errno));
  // Takes the room on the disk now: later there would be no error, but a signal.
  const int full = posix_fallocate(file.number(), 0, static_cast<off_t>(file_bytes_));
  mapping_ = full != 0
                 ? MAP_FAILED
                 : mmap(nullptr, file_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (mapping_ == MAP_FAILED) {
    const int error = full != 0 ? full : errno;
    unlink(unfinished_path_.c_str());
    Fail(path_, std::strerror(error));
  }
  std::memcpy(mapping_, text.data(), text.size());
}

OutputFile::~OutputFile() {
  munmap(mapping_, file_bytes_);
  if (!kept_) unlink(unfinished_path_.c_str());
}

std::byte* OutputFile::data() const { return static_cast<std::byte*>(mapping_) + header_bytes_; }

void OutputFile::Keep() {
  if (std::rename(unfinished_path_.c_str(), path_.c_str()) != 0) Fail(path_, std::strerror(errno));
  kept_ = true;
}

}  // namespace mlmargin::tools
