// SPDX-License-Identifier: Apache-2.0
#include "runtime/fork_guard.h"

#include <fmt/format.h>  // core.h alone: a name that GCC and Clang mangle in two ways.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "runtime/private_api.h"
#include "runtime/timestamp.h"

namespace mlmargin::runtime {
namespace {

std::atomic<bool> marks_children = false;
std::atomic<bool> in_forked_child = false;

// The function that was called last; a literal, since it comes from ApiCall.
thread_local const char* called_function = nullptr;

void MarkChild() {
  if (marks_children.load(std::memory_order_relaxed)) {
    in_forked_child.store(true, std::memory_order_relaxed);
  }
}

}  // namespace

bool InForkedChild() noexcept { return in_forked_child.load(std::memory_order_relaxed); }

void PrepareForkGuard() {
  static bool prepared = false;
  if (prepared) return;
  if (pthread_atfork(nullptr, nullptr, &MarkChild) != 0) throw std::bad_alloc();
  prepared = true;
}

void EnableForkGuard() noexcept { marks_children.store(true, std::memory_order_relaxed); }

int32_t ReportForkedChild(const char* function) noexcept {
  called_function = function;
  return ACL_ERROR_RT_INTERNAL_ERROR;
}

const char* ForkedChildMessage() noexcept {
  if (called_function == nullptr) return nullptr;
  static thread_local char message[512];
  char time[32];
  UtcTimestamp(time, sizeof(time));
  const auto end = fmt::format_to_n(
      message, sizeof(message) - 1,
      "[PID: {}] {} Inner_Error(EE9999): {}: this process was forked after its parent had called "
      "aclInit, so the runtime does not work in it until exec; fork before aclInit, or start the "
      "program anew.",
      getpid(), time, called_function);
  *end.out = '\0';
  called_function = nullptr;
  return message;
}

}  // namespace mlmargin::runtime
