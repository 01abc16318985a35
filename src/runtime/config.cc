// SPDX-License-Identifier: Apache-2.0
#include "runtime/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "acl/acl.h"
#include "runtime/private_api.h"

namespace mlmargin::runtime {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr int kMaxDepth = 10;

Status ReadFile(const char* path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
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

Status Parse(const std::string& text, const char* path, Json* document) {
  int braces = 0;
  int brackets = 0;
  bool too_deep = false;
  const auto watch_depth = [&](int, Json::parse_event_t event, Json&) {
    if (event == Json::parse_event_t::object_start) ++braces;
    if (event == Json::parse_event_t::object_end) --braces;
    if (event == Json::parse_event_t::array_start) ++brackets;
    if (event == Json::parse_event_t::array_end) --brackets;
    too_deep = too_deep || braces > kMaxDepth || brackets > kMaxDepth;
    return true;
  };
  *document = Json::parse(text, watch_depth, /*allow_exceptions=*/false);
  if (document->is_discarded() || !document->is_object()) {
    return Status(ACL_ERROR_PARSE_FILE, "EH0004",
                  fmt::format("file \"{}\" holds no JSON object.", path));
  }
  if (too_deep) {
    return Status(ACL_ERROR_PARSE_FILE, "EH0004",
                  fmt::format("file \"{}\" is nested deeper than {} braces or {} brackets.", path,
                              kMaxDepth, kMaxDepth));
  }
  return {};
}

Status BadValue(const char* key, const Json& value, const char* expected) {
  return Status(ACL_ERROR_FILE_ATTR_INVALID, "EH0009",
                fmt::format("key {} in the file of configPath is {}; expected {}.", key,
                            value.dump(-1, ' ', false, Json::error_handler_t::replace), expected));
}

// The member `name` of object `parent` if it is there; null otherwise.
const Json* Member(const Json& parent, const char* name) {
  if (!parent.is_object()) return nullptr;
  const auto it = parent.find(name);
  return it == parent.end() ? nullptr : &*it;
}

Status ReadDefaultDevice(const Json& document, Config* config) {
  const Json* const section = Member(document, "defaultDevice");
  const Json* const value = section == nullptr ? nullptr : Member(*section, "default_device");
  if (value == nullptr) return {};
  constexpr const char* kExpected = "a device number as a string, such as \"0\"";
  if (!value->is_string()) return BadValue("defaultDevice.default_device", *value, kExpected);
  const std::string& text = value->get_ref<const std::string&>();
  int32_t device = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), device);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || device < 0) {
    return BadValue("defaultDevice.default_device", *value, kExpected);
  }
  config->default_device = device;
  return {};
}

Status ReadMessageMode(const Json& document, Config* config) {
  const Json* const value = Member(document, "err_msg_mode");
  if (value == nullptr || *value == "0") return {};
  if (*value != "1") {
    return BadValue("err_msg_mode", *value, "\"0\" (each thread) or \"1\" (process)");
  }
  config->message_scope = MessageScope::kProcess;
  return {};
}

Status ReadDebugKernel(const Json& document, Config* config) {
  const Json* const section = Member(document, "op_debug_config");
  const Json* const value = section == nullptr ? nullptr : Member(*section, "enable_debug_kernel");
  if (value == nullptr || *value == "off") return {};
  if (*value != "on") {
    return BadValue("op_debug_config.enable_debug_kernel", *value, "\"on\" or \"off\"");
  }
  config->enable_debug_kernel = true;
  return {};
}

void WarnOfOtherKeys(const Json& document) {
  for (const auto& [key, value] : document.items()) {
    if (key == "defaultDevice" || key == "err_msg_mode" || key == "op_debug_config") continue;
    Log(ACL_WARNING, "ASCENDCL",
        fmt::format("key \"{}\" in the file of configPath has no effect on a CPU device.", key));
  }
}

}  // namespace

Status ReadConfig(const char* path, Config* config) {
  *config = Config();
  Json document = Json::object();
  std::string text;
  if (path != nullptr && *path != '\0') {
    MLMARGIN_RETURN_IF_ERROR(ReadFile(path, &text));
    MLMARGIN_RETURN_IF_ERROR(Parse(text, path, &document));
  }
  MLMARGIN_RETURN_IF_ERROR(ReadDefaultDevice(document, config));
  MLMARGIN_RETURN_IF_ERROR(ReadMessageMode(document, config));
  MLMARGIN_RETURN_IF_ERROR(ReadDebugKernel(document, config));
  WarnOfOtherKeys(document);
  config->canonical_text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  return {};
}

}  // namespace mlmargin::runtime
