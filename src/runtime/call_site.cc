// SPDX-License-Identifier: Apache-2.0
#include "runtime/call_site.h"

#include <backtrace.h>
#include <errno.h>
#include <link.h>
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

// The program or library that holds an address. Not by dladdr: that waits while another thread
// loads a library, for as long as the library's constructors take.
struct Module {
  const uintptr_t address;
  const char* path = nullptr;  // Null: there is none.
  uintptr_t load_address = 0;  // What its own addresses are counted from.

  explicit Module(const void* frame) : address(reinterpret_cast<uintptr_t>(frame)) {
    dl_iterate_phdr(TakeIfHolds, this);
  }

 private:
  static int TakeIfHolds(dl_phdr_info* info, size_t, void* data) {
    auto& module = *static_cast<Module*>(data);
    for (const ElfW(Phdr) & header : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
      const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
      if (header.p_type != PT_LOAD || module.address - begin >= header.p_memsz) continue;
      const bool is_program = *info->dlpi_name == '\0';
      module.path = is_program ? program_invocation_name : info->dlpi_name;
      module.load_address = info->dlpi_addr;
      return 1;
    }
    return 0;
  }
};

// Libraries whose code is no place of the program: these, and the one with memcpy. By the name that
// the loader knows a library by, which may be that of a link to it.
bool IsSkipped(const char* module) {
  constexpr std::array<std::string_view, 7> kSkipped = {
      "libascendcl.so", "libacl_rt.so",     "libnnopbase.so", "libopapi_nn.so",
      "libopapi.so",    "libopapi_math.so", "libc.so.6"};
  return std::find(kSkipped.begin(), kSkipped.end(), BaseName(module)) != kSkipped.end();
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

backtrace_state* DebugInformation() {
  static backtrace_state* const state =
      backtrace_create_state(nullptr, /*threaded=*/1, IgnoreError, nullptr);
  return state;
}

Place Resolve(uintptr_t address) {
  Place place;
  backtrace_state* const state = DebugInformation();
  if (state != nullptr) backtrace_pcinfo(state, address, TakePlace, IgnoreError, &place);
  return place;
}

void TakeName(void* data, uintptr_t, const char* name, uintptr_t, uintptr_t) {
  if (name != nullptr) *static_cast<const char**>(data) = name;
}

// From the symbol table, which has more functions than the loader knows. "?" if it is stripped.
const char* FunctionName(uintptr_t address) {
  const char* name = "?";
  backtrace_state* const state = DebugInformation();
  if (state != nullptr) backtrace_syminfo(state, address, TakeName, IgnoreError, &name);
  return name;
}

// Where frames go that come from the innermost one outwards.
struct FrameTaker {
  uintptr_t first;         // Those inside of it are left out. 0: none.
  std::span<void*> space;  // What is left.
};

_Unwind_Reason_Code TakeFrame(_Unwind_Context* context, void* data) {
  auto& taker = *static_cast<FrameTaker*>(data);
  const uintptr_t address = _Unwind_GetIP(context);
  if (taker.first != 0 && taker.first != address) return _URC_NO_REASON;
  // An instruction that failed, as if it were a call: what follows looks in front of the address.
  const uintptr_t frame = taker.first != 0 ? address + 1 : address;
  taker.first = 0;
  if (taker.space.empty()) return _URC_END_OF_STACK;
  taker.space.front() = reinterpret_cast<void*>(frame);
  taker.space = taker.space.subspan(1);
  return _URC_NO_REASON;
}

// The call whose return address is `frame`.
uintptr_t CallBefore(const void* frame) { return reinterpret_cast<uintptr_t>(frame) - 1; }

}  // namespace

CallSite CallSite::Here() noexcept {
  CallSite site;
  FrameTaker taker = {0, site.frames_};
  _Unwind_Backtrace(TakeFrame, &taker);
  return site;
}

CallSite CallSite::OfSignal(uintptr_t address) noexcept {
  CallSite site;
  FrameTaker taker = {address, site.frames_};
  _Unwind_Backtrace(TakeFrame, &taker);
  return site;
}

const void* CallSite::address() const noexcept {
  for (const void* frame : frames_) {
    if (frame == nullptr) break;
    const Module module(frame);
    if (module.path == nullptr || !IsSkipped(module.path)) return frame;
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
  const Module module(frame);
  if (module.path == nullptr) {
    std::snprintf(text, size, "%p", frame);
    return;
  }
  std::snprintf(text, size, "%s (%s+%#zx)", FunctionName(call), BaseName(module.path),
                static_cast<size_t>(call - module.load_address));
}

std::string CallSite::Describe() const {
  char text[512];
  Describe(text, sizeof(text));
  return text;
}

}  // namespace mlmargin::runtime
