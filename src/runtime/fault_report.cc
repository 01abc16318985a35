// SPDX-License-Identifier: Apache-2.0
#include "runtime/fault_report.h"

#include <fmt/core.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <mutex>

#include "acl/acl.h"
#include "runtime/isolated_memory.h"
#include "runtime/memory.h"
#include "runtime/never_destroyed.h"
#include "runtime/signal_lock.h"

namespace mlmargin::runtime {
namespace {

// ---- Tasks that run --------------------------------------------------------------------------

// A task in the list of those that run, while it lives.
class RunningTask {
 public:
  explicit RunningTask(const Task& task) : task_(task) {
    const std::lock_guard lock(List().mutex);
    next_ = List().first;
    List().first = this;
  }
  ~RunningTask() {
    const std::lock_guard lock(List().mutex);
    RunningTask** link = &List().first;
    while (*link != this) link = &(*link)->next_;
    *link = next_;
  }
  RunningTask(const RunningTask&) = delete;
  RunningTask& operator=(const RunningTask&) = delete;

  struct TaskList {
    std::mutex mutex;
    RunningTask* first = nullptr;
  };
  static TaskList& List() {
    static NeverDestroyed<TaskList> list;
    return list.get();
  }

  const Task& task() const { return task_; }
  const RunningTask* next() const { return next_; }

 private:
  const Task& task_;
  RunningTask* next_ = nullptr;
};

// ---- The text, in a signal handler -----------------------------------------------------------

class Line {
 public:
  [[gnu::format(printf, 2, 3)]] void Add(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    const int added = std::vsnprintf(text_ + size_, sizeof(text_) - size_, format, arguments);
    va_end(arguments);
    if (added > 0) size_ = std::min(size_ + static_cast<size_t>(added), sizeof(text_) - 1);
  }
  // What has been added since the last time.
  void Write() noexcept {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text_, size_);
    size_ = 0;
  }

 private:
  char text_[2048];
  size_t size_ = 0;
};

uintptr_t FailedInstruction(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
#error "which register holds the program counter?"
#endif
}

const char* HowTouched(uintptr_t address, const void* context) {
  if (FailedInstruction(context) == address) return "executed";
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;  // Of the page fault's error code.
  const greg_t error = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR];
  return (error & kWrite) != 0 ? "written" : "read";
#else
  return "touched";
#endif
}

// Whether the handler runs on a stack that the program made for handlers with little to do.
bool StackIsSmall() {
  constexpr size_t kEnough = size_t{24} << 10;  // 13 KiB were seen, 3 of them the system's.
  stack_t stack = {};
  return sigaltstack(nullptr, &stack) != 0 ||
         ((stack.ss_flags & SS_ONSTACK) != 0 && stack.ss_size < kEnough);
}

// Where the instruction is. Not asked for one that is itself out of reach: to look for the frame
// behind it would read there.
CallSite SiteOfAccess(uintptr_t address, const void* context) {
  const uintptr_t instruction = FailedInstruction(context);
  return instruction == address || StackIsSmall() ? CallSite() : CallSite::OfSignal(instruction);
}

void AddSite(const char* before, const CallSite& site, Line* line) {
  if (!site.known() || StackIsSmall()) return;
  char text[512];
  site.Describe(text, sizeof(text));
  line->Add("%s%s", before, text);
}

void AddAllocation(const IsolatedRecord& record, Line* line) {
  line->Add("device allocation %llu (%zu bytes at %p on device %d",
            static_cast<unsigned long long>(record.number), record.bytes,
            reinterpret_cast<void*>(record.device_begin), record.device_id);
  AddSite(", from ", record.allocated_at, line);
  line->Add(")");
}

void AddDeviceAddress(uintptr_t address, const IsolatedRecord& record, const void* context,
                      Line* line) {
  line->Add("mlmargin: device address %p was %s by the host", reinterpret_cast<void*>(address),
            HowTouched(address, context));
  line->Write();  // If the stack is damaged, what follows may fail.
  AddSite(" at ", SiteOfAccess(address, context), line);
  line->Add(": byte %zu of ", address - record.device_begin);
  AddAllocation(record, line);
  if (record.freed) {
    line->Add(", which was freed");
    AddSite(" at ", record.freed_at, line);
    line->Add(".\n");
    return;
  }
  line->Add(
      ". Device memory is out of the host's reach (MLMARGIN_DEVICE_MEMORY=isolated), as on a real "
      "device; aclrtMemcpy brings the bytes over.\n");
}

// Names the arguments of running tasks that lie in the allocation.
void AddTasks(const IsolatedRecord& record, Line* line) {
  const SignalLock lock(RunningTask::List().mutex);
  if (!lock.held()) return;
  const RunningTask* running = RunningTask::List().first;
  for (; running != nullptr; running = running->next()) {
    for (const Access& access : running->task().accesses()) {
      const uintptr_t first = reinterpret_cast<uintptr_t>(access.address) - record.device_begin;
      if (first >= record.bytes) continue;
      line->Add("; %s has %s there, %zu bytes from byte %zu on", running->task().api_function(),
                access.argument, access.bytes, first);
    }
  }
}

void AddOverrun(uintptr_t address, const IsolatedRecord& record, const char* how, Line* line) {
  const uintptr_t end = record.host_begin + record.bytes;
  const bool behind = address >= end;
  line->Add("mlmargin: byte %zu %s the %s of ",
            behind ? address - end : record.host_begin - address, behind ? "past" : "before",
            behind ? "end" : "beginning");
  AddAllocation(record, line);
  line->Add(" was %s by a task", how);
  AddTasks(record, line);
  line->Add(".\n");
}

// ---- The handler -----------------------------------------------------------------------------

struct sigaction handler_before;

void ReportFault(uintptr_t address, const void* context) {
  IsolatedRecord record;
  Line line;
  switch (FindFaultPlace(address, &record)) {
    case FaultPlace::kElsewhere:
      return;
    case FaultPlace::kOnDevice:
      AddDeviceAddress(address, record, context, &line);
      break;
    case FaultPlace::kBesideBytes:
      AddOverrun(address, record, HowTouched(address, context), &line);
      break;
  }
  line.Write();
}

// What would have happened without this handler. After the default action is back in place, the
// instruction that failed does so again.
void PassOn(int number, siginfo_t* info, void* context) {
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
    handler_before.sa_sigaction(number, info, context);
  } else if (handler_before.sa_handler == SIG_DFL || handler_before.sa_handler == SIG_IGN) {
    signal(number, SIG_DFL);
    if (info->si_code <= 0) raise(number);  // Sent by a process: it does not come again.
  } else {
    handler_before.sa_handler(number);
  }
}

void OnFault(int number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (info->si_code > 0) ReportFault(reinterpret_cast<uintptr_t>(info->si_addr), context);
  errno = saved_errno;
  PassOn(number, info, context);
}

Status CheckNotFreed(const Task& task, const char* when) {
  for (const Access& access : task.accesses()) {
    if (access.block == nullptr || !access.block->freed()) continue;
    const CallSite freed_at = access.block->freed_at();
    return Status(ACL_ERROR_RT_DEVICE_MEM_ERROR, "EE1019",
                  fmt::format("{}: the memory of {} ({} bytes at {}) was freed{} {}; wait for the "
                              "stream before aclrtFree.",
                              task.api_function(), access.argument, access.bytes, access.address,
                              freed_at.known() ? " at " + freed_at.Describe() : "", when));
  }
  return {};
}

}  // namespace

void InstallFaultReport() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = &OnFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &handler_before);
  });
}

Status RunWatched(Task& task) {
  const RunningTask running(task);
  MLMARGIN_RETURN_IF_ERROR(CheckNotFreed(task, "before it ran, so it did not"));
  MLMARGIN_RETURN_IF_ERROR(task.Run());
  return CheckNotFreed(task, "while it ran");
}

}  // namespace mlmargin::runtime
