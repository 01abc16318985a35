// SPDX-License-Identifier: Apache-2.0
#include "runtime/config.h"

#include <fmt/core.h>

#include <charconv>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "runtime/private_api.h"

namespace mlmargin::runtime {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr int kMaxDepth = 10;

Status ReadFile(const char* path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  // Opening a folder works; reading it does not.
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    if (!file.is_open() || file.bad()) {
      return Status(ACL_ERROR_INVALID_FILE, "EH0003",
                    fmt::format("argument configPath is \"{}\"; expected a readable file.", path));
    }
    return {};
  }
  std::string buffer(kMaxFileBytes + 1, '\0');
  file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  buffer.resize(static_cast<size_t>(file.gcount()));
  if (buffer.size() > kMaxFileBytes) {
    return Status(ACL_ERROR_INVALID_FILE_SIZE, "EH0004",
                  fmt::format("file \"{}\" is larger than {} bytes.", path, kMaxFileBytes));
  }
  *text = std::move(buffer);
  return {};
}

// What a file says, by JSON pointer (RFC 6901): texts in quotes, the other values as they are
// written, and for an object or an array its kind. No tree of Json values, whose destructor wants
// memory and ends the process without.
using Members = std::map<std::string, std::string, std::less<>>;
constexpr const char* kObject = "{...}";
constexpr const char* kArray = "[...]";

std::string EscapedKey(std::string_view key) {
  std::string escaped;
  for (const char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Makes Members of what the parser meets, and stops it at what is nested too deep.
class MemberReader : public nlohmann::json_sax<Json> {
 public:
  const Members& members() const { return members_; }
  bool too_deep() const { return too_deep_; }

  bool null() override { return Put("null"); }
  bool boolean(bool value) override { return Put(value ? "true" : "false"); }
  bool number_integer(int64_t value) override { return Put(std::to_string(value)); }
  bool number_unsigned(uint64_t value) override { return Put(std::to_string(value)); }
  bool number_float(double value, const std::string&) override {
    return Put(std::to_string(value));
  }
  bool string(std::string& value) override { return Put("\"" + value + "\""); }
  bool binary(Json::binary_t&) override { return false; }  // Not in text.
  bool start_object(size_t) override { return Open(kObject, &braces_); }
  bool start_array(size_t) override { return Open(kArray, &brackets_); }
  bool end_object() override { return Close(&braces_); }
  bool end_array() override { return Close(&brackets_); }

  // Of two members of one name the last counts.
  bool key(std::string& name) override {
    Level& level = levels_.back();
    level.next = level.path + "/" + EscapedKey(name);
    members_.erase(level.next);
    const std::string inside = level.next + "/";
    auto member = members_.lower_bound(inside);
    while (member != members_.end() && member->first.starts_with(inside)) {
      member = members_.erase(member);
    }
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  struct Level {
    std::string path;
    std::string next;  // The path of the next value, in an object.
    bool is_array = false;
    size_t num_elements = 0;
  };

  std::string NextPath() {
    if (levels_.empty()) return "";
    Level& level = levels_.back();
    return level.is_array ? level.path + "/" + std::to_string(level.num_elements++) : level.next;
  }
  bool Put(std::string value) {
    members_.insert_or_assign(NextPath(), std::move(value));
    return true;
  }
  bool Open(const char* kind, int* depth) {
    std::string path = NextPath();
    members_.insert_or_assign(path, kind);
    levels_.push_back({.path = std::move(path), .next = {}, .is_array = kind == kArray});
    too_deep_ = ++*depth > kMaxDepth;
    return !too_deep_;
  }
  bool Close(int* depth) {
    levels_.pop_back();
    --*depth;
    return true;
  }

  Members members_;
  std::vector<Level> levels_;
  int braces_ = 0;
  int brackets_ = 0;
  bool too_deep_ = false;
};

Status Parse(const std::string& text, const char* path, Members* members) {
  MemberReader reader;
  const bool parsed = Json::sax_parse(text, &reader);
  if (reader.too_deep()) {
    return Status(ACL_ERROR_PARSE_FILE, "EH0004",
                  fmt::format("file \"{}\" is nested deeper than {} braces or {} brackets.", path,
                              kMaxDepth, kMaxDepth));
  }
  const auto root = reader.members().find("");
  if (!parsed || root == reader.members().end() || root->second != kObject) {
    return Status(ACL_ERROR_PARSE_FILE, "EH0004",
                  fmt::format("file \"{}\" holds no JSON object.", path));
  }
  *members = reader.members();
  return {};
}

Status BadValue(const char* key, const std::string& value, const char* expected) {
  return Status(
      ACL_ERROR_FILE_ATTR_INVALID, "EH0009",
      fmt::format("key {} in the file of configPath is {}; expected {}.", key, value, expected));
}

// The value at `pointer` if it is there; null otherwise.
const std::string* ValueAt(const Members& members, std::string_view pointer) {
  const auto it = members.find(pointer);
  return it == members.end() ? nullptr : &it->second;
}

Status ReadDefaultDevice(const Members& members, Config* config) {
  const std::string* const value = ValueAt(members, "/defaultDevice/default_device");
  if (value == nullptr) return {};
  int32_t device = 0;
  const char* const end = value->data() + value->size();
  const auto result = std::from_chars(value->data() + 1, end, device);
  if (value->front() != '"' || result.ec != std::errc() || result.ptr != end - 1 || device < 0) {
    return BadValue("defaultDevice.default_device", *value,
                    "a device number as a string, such as \"0\"");
  }
  config->default_device = device;
  return {};
}

Status ReadMessageMode(const Members& members, Config* config) {
  const std::string* const value = ValueAt(members, "/err_msg_mode");
  if (value == nullptr || *value == "\"0\"") return {};
  if (*value != "\"1\"") {
    return BadValue("err_msg_mode", *value, "\"0\" (each thread) or \"1\" (process)");
  }
  config->message_scope = MessageScope::kProcess;
  return {};
}

Status ReadDebugKernel(const Members& members, Config* config) {
  const std::string* const value = ValueAt(members, "/op_debug_config/enable_debug_kernel");
  if (value == nullptr || *value == "\"off\"") return {};
  if (*value != "\"on\"") {
    return BadValue("op_debug_config.enable_debug_kernel", *value, "\"on\" or \"off\"");
  }
  config->enable_debug_kernel = true;
  return {};
}

void WarnOfOtherKeys(const Members& members) {
  for (const auto& [pointer, value] : members) {
    if (pointer.rfind('/') != 0) continue;  // The whole, or inside a member.
    const std::string_view key = std::string_view(pointer).substr(1);
    if (key == "defaultDevice" || key == "err_msg_mode" || key == "op_debug_config") continue;
    Log(ACL_WARNING, "ASCENDCL",
        fmt::format("key \"{}\" in the file of configPath has no effect on a CPU device.", key));
  }
}

std::string CanonicalText(const Members& members) {
  std::string text;
  for (const auto& [pointer, value] : members) {
    if (pointer.empty()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", pointer, value);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

Status ReadConfig(const char* path, Config* config) {
  *config = Config();
  Members members;
  std::string text;
  if (path != nullptr && *path != '\0') {
    MLMARGIN_RETURN_IF_ERROR(ReadFile(path, &text));
    MLMARGIN_RETURN_IF_ERROR(Parse(text, path, &members));
  }
  MLMARGIN_RETURN_IF_ERROR(ReadDefaultDevice(members, config));
  MLMARGIN_RETURN_IF_ERROR(ReadMessageMode(members, config));
  MLMARGIN_RETURN_IF_ERROR(ReadDebugKernel(members, config));
  WarnOfOtherKeys(members);
  config->canonical_text = CanonicalText(members);
  return {};
}

}  // namespace mlmargin::runtime
