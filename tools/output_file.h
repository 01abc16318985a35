// SPDX-License-Identifier: Apache-2.0
#ifndef TOOLS_OUTPUT_FILE_H_
#define TOOLS_OUTPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "array_file.h"

namespace mlmargin::tools {

// A new .npy file of that shape, in C order, to be filled in. It gets its name when it is kept;
// without that nothing is left. Throws ToolError.
class OutputFile {
 public:
  OutputFile(std::string path, Element element, const std::vector<int64_t>& shape);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::byte* data() const;
  void Keep();

 private:
  std::string path_, unfinished_path_;
  size_t header_bytes_ = 0;
  size_t file_bytes_ = 0;
  void* mapping_ = nullptr;
  bool kept_ = false;
};

}  // namespace mlmargin::tools

#endif  // TOOLS_OUTPUT_FILE_H_
