// SPDX-License-Identifier: Apache-2.0
#include "runtime/call_site.h"

#include <backtrace.h>
#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

namespace mlmargin::runtime {
namespace {

const char* BaseName(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// By the name that the loader knows a library by, which may be that of a link to it.
bool IsOurs(const char* module) {
  constexpr std::array<std::string_view, 6> kOurs = {"libascendcl.so", "libacl_rt.so",
                                                     "libnnopbase.so", "libopapi_nn.so",
                                                     "libopapi.so",    "libopapi_math.so"};
  return std::find(kOurs.begin(), kOurs.end(), BaseName(module)) != kOurs.end();
}

struct Place {
  const char* file = nullptr;  // Null: not known.
  int line = 0;
};

// The innermost of the functions inlined at an address, which come first.
int TakePlace(void* data, uintptr_t, const char* file, int line, const char*) {
  if (file != nullptr) *static_cast<Place*>(data) = {file, line};
  return 1;
}

void IgnoreError(void*, const char*, int) {}

Place Resolve(uintptr_t address) {
  static backtrace_state* const state =
      backtrace_create_state(nullptr, /*threaded=*/1, IgnoreError, nullptr);
  Place place;
  if (state != nullptr) backtrace_pcinfo(state, address, TakePlace, IgnoreError, &place);
  return place;
}

// Puts a frame into the first place of a span that is left.
_Unwind_Reason_Code TakeFrame(_Unwind_Context* context, void* data) {
  auto& left = *static_cast<std::span<void*>*>(data);
  if (left.empty()) return _URC_END_OF_STACK;
  left.front() = reinterpret_cast<void*>(_Unwind_GetIP(context));
  left = left.subspan(1);
  return _URC_NO_REASON;
}

// The call whose return address is `frame`.
uintptr_t CallBefore(const void* frame) { return reinterpret_cast<uintptr_t>(frame) - 1; }

}  // namespace

CallSite CallSite::Here() noexcept {
  CallSite site;
  std::span<void*> left(site.frames_);
  _Unwind_Backtrace(TakeFrame, &left);
  return site;
}

const void* CallSite::address() const noexcept {
  for (const void* frame : frames_) {
    Dl_info info;
    if (frame == nullptr) break;
    if (dladdr(frame, &info) != 0 && info.dli_fname != nullptr && IsOurs(info.dli_fname)) continue;
    return frame;
  }
  return nullptr;
}

void CallSite::Describe(char* text, size_t size) const noexcept {
  const void* const frame = address();
  if (frame == nullptr) {
    std::snprintf(text, size, "an unknown place");
    return;
  }
  const uintptr_t call = CallBefore(frame);
  if (const Place place = Resolve(call); place.file != nullptr) {
    std::snprintf(text, size, "%s:%d", place.file, place.line);
    return;
  }
  Dl_info info{};
  if (dladdr(frame, &info) == 0 || info.dli_fname == nullptr) {
    std::snprintf(text, size, "%p", frame);
    return;
  }
  const char* const function = info.dli_sname != nullptr ? info.dli_sname : "?";
  std::snprintf(text, size, "%s (%s+%#zx)", function, BaseName(info.dli_fname),
                static_cast<size_t>(call - reinterpret_cast<uintptr_t>(info.dli_fbase)));
}

std::string CallSite::Describe() const {
  char text[512];
  Describe(text, sizeof(text));
  return text;
}

}  // namespace mlmargin::runtime
