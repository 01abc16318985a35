// SPDX-License-Identifier: Apache-2.0
#ifndef TOOLS_FILE_DESCRIPTOR_H_
#define TOOLS_FILE_DESCRIPTOR_H_

#include <unistd.h>

namespace mlmargin::tools {

// Closes what open() gave, which may be -1.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() {
    if (number_ >= 0) close(number_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int number() const { return number_; }

 private:
  const int number_;
};

}  // namespace mlmargin::tools

#endif  // TOOLS_FILE_DESCRIPTOR_H_
