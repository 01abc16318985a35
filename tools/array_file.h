// SPDX-License-Identifier: Apache-2.0
// Arrays in NumPy's files: .npy, which is mapped and not read, and members of .npz.
#ifndef TOOLS_ARRAY_FILE_H_
#define TOOLS_ARRAY_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlmargin::tools {

enum class Element {
  kBool,
  kInt8,
  kUint8,
  kUint16,  // As scores: the bits of bfloat16.
  kInt32,
  kInt64,
  kFloat16,
  kFloat32,
  kFloat64
};

size_t BytesOf(Element element);
const char* NameOf(Element element);   // As NumPy's, "float32".
const char* DescrOf(Element element);  // In a .npy header, "<f4".

// An array of one or two dimensions, read-only. One dimension is one row.
struct Array {
  std::string name;  // Of the file and the member.
  Element element = Element::kFloat32;
  int dimensions = 1;
  int64_t rows = 1;
  int64_t columns = 0;
  int64_t row_stride = 0;  // In elements.
  int64_t column_stride = 1;
  const std::byte* data = nullptr;
  std::shared_ptr<const void> memory;  // That data lies in.

  int64_t size() const { return rows * columns; }
  std::string ShapeText() const;  // "(32, 501070)"
  const std::byte* At(int64_t row, int64_t column) const;
};

// `path` is a .npy file, a .npz file with one array, or FILE.npz:MEMBER. Throws ToolError.
Array OpenArray(const std::string& path);

// The arrays of a scipy.sparse CSR matrix that scipy.sparse.save_npz wrote to `path`; nothing if it
// is no such file.
struct CsrFile {
  Array offsets, indices;
  int64_t rows = 0, classes = 0;
};
std::optional<CsrFile> OpenCsr(const std::string& path);

}  // namespace mlmargin::tools

#endif  // TOOLS_ARRAY_FILE_H_
