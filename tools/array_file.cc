// SPDX-License-Identifier: Apache-2.0
#include "array_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>
#include <xtensor/xnpy.hpp>

#include "error.h"
#include "file_descriptor.h"

namespace mlmargin::tools {
namespace {

struct ElementInfo {
  Element element;
  const char* descr;  // In a .npy header.
  const char* name;
  size_t bytes;
};

constexpr std::array<ElementInfo, 9> kElements = {{{Element::kBool, "|b1", "bool", 1},
                                                   {Element::kInt8, "|i1", "int8", 1},
                                                   {Element::kUint8, "|u1", "uint8", 1},
                                                   {Element::kUint16, "<u2", "uint16", 2},
                                                   {Element::kInt32, "<i4", "int32", 4},
                                                   {Element::kInt64, "<i8", "int64", 8},
                                                   {Element::kFloat16, "<f2", "float16", 2},
                                                   {Element::kFloat32, "<f4", "float32", 4},
                                                   {Element::kFloat64, "<f8", "float64", 8}}};

const ElementInfo& InfoOf(Element element) { return kElements[static_cast<size_t>(element)]; }

[[noreturn]] void Fail(std::string_view name, std::string_view what) {
  throw ToolError(fmt::format("{}: {}", name, what));
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// ---- Headers ---------------------------------------------------------------------------------

struct Header {
  Array array;            // Without data.
  size_t data_begin = 0;  // Bytes into the file.
};

constexpr char kExpected[] =
    "expected float16, float32, float64 or uint16 for scores, int32 or int64 for labels";
constexpr char kEmpty[] = "it is empty; expected an array that NumPy wrote";

Element ParseDescr(const std::string& name, const std::string& descr) {
  for (const ElementInfo& info : kElements) {
    if (descr == info.descr) return info.element;
  }
  if (!descr.empty() && descr[0] == '>') {
    Fail(name, fmt::format("its elements are '{}', in big-endian order; save "
                           "array.astype('<{}')",
                           descr, descr.substr(1)));
  }
  const bool whole = descr.size() > 1 && (descr[1] == 'i' || descr[1] == 'u');
  Fail(name, fmt::format("its elements are '{}'; {}{}", descr, kExpected,
                         whole ? "; save labels as array.astype('<i8')" : ""));
}

// What the parser only finds invalid.
void CheckKind(const std::string& name, std::string_view header) {
  constexpr std::string_view kKey = "'descr': ";
  const size_t at = header.find(kKey);
  if (at == std::string_view::npos) return;
  std::string_view descr = header.substr(at + kKey.size());
  if (descr.substr(0, 1) == "[") {
    Fail(name, fmt::format("its elements are records with fields; {}", kExpected));
  }
  descr.remove_prefix(std::min<size_t>(descr.size(), 1));
  descr = descr.substr(0, descr.find('\''));
  if (descr == "|O") {
    Fail(name, fmt::format("its elements are Python objects, as of lists of different lengths; {}",
                           kExpected));
  }
  ParseDescr(name, std::string(descr));
}

// Of what cannot be a .npy file.
void CheckMagic(const std::string& name, std::istream& stream) {
  constexpr std::string_view kMagic = "\x93NUMPY", kZipMagic = "PK\x03\x04";
  std::array<char, kMagic.size()> begin = {};
  stream.read(begin.data(), begin.size());
  const std::string_view got(begin.data(), static_cast<size_t>(stream.gcount()));
  if (got == kMagic) {
    stream.seekg(0);
    return;
  }
  if (got.empty()) Fail(name, kEmpty);
  if (got.substr(0, kZipMagic.size()) == kZipMagic) {
    Fail(name, "it is an archive of arrays; its name must end in .npz");
  }
  Fail(name, "it is no NumPy file; expected an array that numpy.save wrote");
}

void SetShape(const std::vector<size_t>& shape, bool fortran_order, Array* array) {
  if (shape.empty() || shape.size() > 2) {
    Fail(array->name, fmt::format("it has {} dimensions; expected 1 or 2", shape.size()));
  }
  const size_t rows = shape.size() == 2 ? shape[0] : 1;
  size_t bytes = 0;
  if (__builtin_mul_overflow(rows, shape.back(), &bytes) ||
      __builtin_mul_overflow(bytes, BytesOf(array->element), &bytes) ||
      bytes > std::numeric_limits<int64_t>::max()) {
    Fail(array->name, "its shape has more bytes than there are addresses");
  }
  array->dimensions = static_cast<int>(shape.size());
  array->rows = static_cast<int64_t>(rows);
  array->columns = static_cast<int64_t>(shape.back());
  array->row_stride = fortran_order ? 1 : array->columns;
  array->column_stride = fortran_order ? array->rows : 1;
}

Header ReadHeader(const std::string& name, std::istream& stream) {
  Header header;
  header.array.name = name;
  std::string descr;
  std::vector<size_t> shape;
  bool fortran_order = false;
  CheckMagic(name, stream);
  try {
    unsigned char major = 0, minor = 0;
    xt::detail::read_magic(stream, &major, &minor);
    const std::string text =
        major == 1 ? xt::detail::read_header_1_0(stream) : xt::detail::read_header_2_0(stream);
    CheckKind(name, text);
    xt::detail::parse_header(text, descr, &fortran_order, shape);
    if (!stream) throw std::runtime_error("its header is cut off");
  } catch (const ToolError&) {
    throw;
  } catch (const std::exception& error) {
    Fail(name, fmt::format("its header is damaged: {}", error.what()));
  }
  header.array.element = ParseDescr(name, descr);
  SetShape(shape, fortran_order, &header.array);
  header.data_begin = static_cast<size_t>(stream.tellg());
  return header;
}

// The array whose file is the `bytes` bytes at `file`.
Array Attach(Header header, const std::byte* file, size_t bytes,
             std::shared_ptr<const void> memory) {
  Array& array = header.array;
  const size_t needed = static_cast<size_t>(array.size()) * BytesOf(array.element);
  if (bytes < header.data_begin || bytes - header.data_begin < needed) {
    Fail(array.name, fmt::format("it is cut off: its shape {} of {} needs {} bytes behind the "
                                 "header, and there are {}",
                                 array.ShapeText(), NameOf(array.element), needed,
                                 bytes - std::min(bytes, header.data_begin)));
  }
  array.data = file + header.data_begin;
  array.memory = std::move(memory);
  return std::move(header.array);
}

void CheckIsFile(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) Fail(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) Fail(path, "it is a folder; expected a .npy or .npz file");
  if (!S_ISREG(status.st_mode))
    Fail(path, "it is a pipe or a device; expected a .npy or .npz file");
  if (status.st_size == 0) Fail(path, kEmpty);
}

// ---- .npy ------------------------------------------------------------------------------------

Array OpenNpy(const std::string& path) {
  CheckIsFile(path);
  std::ifstream stream(path, std::ios::binary);
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};  // Of what is mapped, should another have been put there meanwhile.
  if (!stream || file.number() < 0 || fstat(file.number(), &status) != 0) {
    Fail(path, std::strerror(errno));
  }
  const auto bytes = static_cast<size_t>(status.st_size);
  Header header = ReadHeader(path, stream);
  void* const data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (data == MAP_FAILED) Fail(path, std::strerror(errno));
  std::shared_ptr<const void> memory(data, [bytes](void* mapped) { munmap(mapped, bytes); });
  return Attach(std::move(header), static_cast<const std::byte*>(data), bytes, std::move(memory));
}

// ---- .npz ------------------------------------------------------------------------------------

class ZipFile {
 public:
  explicit ZipFile(std::string path) : path_(std::move(path)) {
    CheckIsFile(path_);
    int code = 0;
    zip_ = zip_open(path_.c_str(), ZIP_RDONLY, &code);
    if (zip_ != nullptr) return;
    if (code == ZIP_ER_NOZIP) {
      Fail(path_,
           "it is no .npz file; expected one that numpy.savez or scipy.sparse.save_npz wrote");
    }
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    Fail(path_, text);
  }
  ~ZipFile() { zip_discard(zip_); }
  ZipFile(const ZipFile&) = delete;
  ZipFile& operator=(const ZipFile&) = delete;

  std::vector<std::string> Members() const {
    std::vector<std::string> members;
    const zip_int64_t count = zip_get_num_entries(zip_, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      std::string name = zip_get_name(zip_, static_cast<zip_uint64_t>(i), 0);
      if (EndsWith(name, ".npy")) name.resize(name.size() - 4);
      members.push_back(std::move(name));
    }
    return members;
  }

  bool Has(const std::string& member) const {
    return zip_name_locate(zip_, (member + ".npy").c_str(), 0) >= 0;
  }

  Array Open(const std::string& member) const {
    const std::string name = path_ + ":" + member;
    if (!Has(member)) {
      Fail(path_, fmt::format("it has no array {}; it has {}", member, fmt::join(Members(), ", ")));
    }
    auto bytes = std::make_shared<const std::string>(Read(name, member + ".npy"));
    std::istringstream stream(*bytes);
    Header header = ReadHeader(name, stream);
    const auto* const data = reinterpret_cast<const std::byte*>(bytes->data());
    return Attach(std::move(header), data, bytes->size(), bytes);
  }

 private:
  std::string Read(const std::string& name, const std::string& entry) const {
    zip_stat_t status;
    if (zip_stat(zip_, entry.c_str(), 0, &status) != 0) Fail(name, zip_strerror(zip_));
    std::string bytes(status.size, '\0');
    zip_file_t* const file = zip_fopen(zip_, entry.c_str(), 0);
    if (file == nullptr) Fail(name, zip_strerror(zip_));
    const zip_int64_t got = zip_fread(file, bytes.data(), bytes.size());
    zip_fclose(file);
    if (got != static_cast<zip_int64_t>(bytes.size())) Fail(name, "it could not be read whole");
    return bytes;
  }

  const std::string path_;
  zip_t* zip_ = nullptr;
};

Array OpenOnlyMember(const std::string& path) {
  const ZipFile zip(path);
  const std::vector<std::string> members = zip.Members();
  if (members.size() == 1) return zip.Open(members[0]);
  Fail(path,
       fmt::format("it has {} arrays ({}); name one, as in {}:{}", members.size(),
                   fmt::join(members, ", "), path, members.empty() ? "NAME" : members.front()));
}

}  // namespace

size_t BytesOf(Element element) { return InfoOf(element).bytes; }
const char* NameOf(Element element) { return InfoOf(element).name; }
const char* DescrOf(Element element) { return InfoOf(element).descr; }

std::string Array::ShapeText() const {
  return dimensions == 1 ? fmt::format("({},)", columns) : fmt::format("({}, {})", rows, columns);
}

const std::byte* Array::At(int64_t row, int64_t column) const {
  return data +
         (row * row_stride + column * column_stride) * static_cast<int64_t>(BytesOf(element));
}

Array OpenArray(const std::string& path) {
  if (EndsWith(path, ".npz")) return OpenOnlyMember(path);
  const size_t colon = path.rfind(".npz:");
  if (colon != std::string::npos)
    return ZipFile(path.substr(0, colon + 4)).Open(path.substr(colon + 5));
  return OpenNpy(path);
}

std::optional<CsrFile> OpenCsr(const std::string& path) {
  if (!EndsWith(path, ".npz")) return std::nullopt;
  const ZipFile zip(path);
  if (!zip.Has("indptr") || !zip.Has("indices") || !zip.Has("shape")) return std::nullopt;
  const Array shape = zip.Open("shape");
  CsrFile csr{zip.Open("indptr"), zip.Open("indices"), 0, 0};
  if (shape.element != Element::kInt64 || shape.size() != 2) {
    Fail(shape.name, "expected two numbers of int64, as scipy.sparse.save_npz writes them");
  }
  std::memcpy(&csr.rows, shape.At(0, 0), sizeof(csr.rows));
  std::memcpy(&csr.classes, shape.At(0, 1), sizeof(csr.classes));
  return csr;
}

}  // namespace mlmargin::tools
