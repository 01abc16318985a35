// SPDX-License-Identifier: Apache-2.0
#include "runtime/fault_report.h"

#include <fmt/core.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "acl/acl.h"
#include "runtime/isolated_memory.h"
#include "runtime/memory.h"
#include "runtime/never_destroyed.h"
#include "runtime/signal_lock.h"
#include "runtime/signal_text.h"

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

// ---- The report, in a signal handler ---------------------------------------------------------

// One at a time, in memory of its own: a stack for signals has no room for it.
struct Report {
  std::mutex mutex;
  uintptr_t address = 0;
  const void* context = nullptr;
  bool with_places = true;
  IsolatedRecord record;
  SignalText text;
  std::array<char, 512> place{};
};

constinit Report the_report;

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

const char* HowTouched(const Report& report) {
  if (FailedInstruction(report.context) == report.address) return "executed";
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;  // Of the page fault's error code.
  const auto* const context = static_cast<const ucontext_t*>(report.context);
  return (context->uc_mcontext.gregs[REG_ERR] & kWrite) != 0 ? "written" : "read";
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

void AddPlace(std::string_view before, const CallSite& site, Report* report) {
  if (!site.known() || !report->with_places) return;
  site.Describe(report->place.data(), report->place.size());
  report->text.Add(before).Add(report->place.data());
}

// " at train.cc:57", of the instruction. Not asked for one that is itself out of reach: to look for
// the frame behind it would read there.
void AddPlaceOfAccess(Report* report) {
  const uintptr_t instruction = FailedInstruction(report->context);
  if (instruction == report->address || !report->with_places) return;
  report->text.Write();  // If the stack is damaged, what follows may fail.
  AddPlace(" at ", CallSite::OfSignal(instruction), report);
}

void AddAllocation(Report* report) {
  const IsolatedRecord& record = report->record;
  report->text.Add("device allocation ").AddNumber(record.number).Add(" (");
  report->text.AddNumber(record.bytes).Add(" bytes at ").AddAddress(record.device_begin);
  report->text.Add(" on device ").AddNumber(static_cast<uint64_t>(record.device_id));
  AddPlace(", from ", record.allocated_at, report);
  report->text.Add(")");
}

// Of the bytes of the allocation, which begin at `begin`.
void AddByte(uintptr_t begin, Report* report) {
  const uintptr_t end = begin + report->record.bytes;
  const uintptr_t address = report->address;
  report->text.Add("byte ");
  if (address < begin) {
    report->text.AddNumber(begin - address).Add(" before the beginning of ");
  } else if (address >= end) {
    report->text.AddNumber(address - end).Add(" past the end of ");
  } else {
    report->text.AddNumber(address - begin).Add(" of ");
  }
  AddAllocation(report);
}

void AddDeviceAddress(Report* report) {
  SignalText& text = report->text;
  text.Add("mlmargin: device address ").AddAddress(report->address);
  text.Add(" was ").Add(HowTouched(*report)).Add(" by the host");
  AddPlaceOfAccess(report);
  text.Add(": ");
  AddByte(report->record.device_begin, report);
  if (report->record.freed) {
    text.Add(", which was freed");
    AddPlace(" at ", report->record.freed_at, report);
    text.Add(".\n");
    return;
  }
  text.Add(
      ". Device memory is out of the host's reach (MLMARGIN_DEVICE_MEMORY=isolated), as on a real "
      "device; aclrtMemcpy brings the bytes over.\n");
}

// Names the arguments of running tasks that lie in the allocation. False if there is none.
bool AddTasksLocked(Report* report) {
  bool any = false;
  const RunningTask* running = RunningTask::List().first;
  for (; running != nullptr; running = running->next()) {
    for (const Access& access : running->task().accesses()) {
      const uintptr_t first =
          reinterpret_cast<uintptr_t>(access.address) - report->record.device_begin;
      if (first >= report->record.bytes) continue;
      report->text.Add(any ? "; " : " by a task; ").Add(running->task().api_function());
      report->text.Add(" has ").Add(access.argument).Add(" there, ").AddNumber(access.bytes);
      report->text.Add(" bytes from byte ").AddNumber(first).Add(" on").Write();
      any = true;
    }
  }
  return any;
}

// Not a device address, but beside where the bytes really lie: most likely a task got there that
// has memory in the allocation, if one runs; else a host that ran over the end of its own.
void AddOverrun(Report* report) {
  report->text.Add("mlmargin: ");
  AddByte(report->record.host_begin, report);
  report->text.Add(" was ").Add(HowTouched(*report));
  const SignalLock lock(RunningTask::List().mutex);
  if (lock.held() && !AddTasksLocked(report)) {
    report->text.Add(" by the host");
    AddPlaceOfAccess(report);
  }
  report->text.Add(".\n");
}

void ReportFault(uintptr_t address, const void* context) {
  Report& report = the_report;
  const SignalLock lock(report.mutex);
  if (!lock.held()) return;
  const FaultPlace place = FindFaultPlace(address, &report.record);
  if (place == FaultPlace::kElsewhere) return;
  report.address = address;
  report.context = context;
  report.with_places = !StackIsSmall();
  if (place == FaultPlace::kOnDevice) {
    AddDeviceAddress(&report);
  } else {
    AddOverrun(&report);
  }
  report.text.Write();
}

// ---- The handler -----------------------------------------------------------------------------

struct sigaction action_before;

bool HasHandler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;  // Of either type.
}

// What would have happened without this handler. After the default action is back in place, the
// instruction that failed does so again.
void PassOn(int number, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0;  // By a process: it does not come again.
  if (!HasHandler(action_before)) {
    if (sent && action_before.sa_handler == SIG_IGN) return;
    signal(number, SIG_DFL);
    if (sent) raise(number);
    return;
  }
  if ((action_before.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) signal(number, SIG_DFL);
  if ((action_before.sa_flags & SA_SIGINFO) != 0) {
    action_before.sa_sigaction(number, info, context);
  } else {
    action_before.sa_handler(number);
  }
}

void OnFault(int number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (info->si_code > 0) ReportFault(reinterpret_cast<uintptr_t>(info->si_addr), context);
  errno = saved_errno;
  PassOn(number, info, context);
}

// ---- Tasks on memory that was freed ----------------------------------------------------------

const char* FreeFunction(BlockKind kind) {
  switch (kind) {
    case BlockKind::kDevice:
      return "aclrtFree";
    case BlockKind::kPinnedHost:
      return "aclrtFreeHost";
    case BlockKind::kRegisteredHost:
      break;
  }
  return "aclrtHostUnregister";
}

Status CheckNotFreed(const Task& task, const char* when) {
  for (const Access& access : task.accesses()) {
    if (access.block == nullptr || !access.block->freed()) continue;
    const CallSite freed_at = access.block->freed_at();
    return Status(ACL_ERROR_RT_DEVICE_MEM_ERROR, "EE1019",
                  fmt::format("{}: the memory of {} ({} bytes at {}) was freed{} {}; wait for the "
                              "stream before {}.",
                              task.api_function(), access.argument, access.bytes, access.address,
                              freed_at.known() ? " at " + freed_at.Describe() : "", when,
                              FreeFunction(access.block->kind())));
  }
  return {};
}

}  // namespace

void InstallFaultReport() {
  static std::once_flag once;
  std::call_once(once, [] {
    sigaction(SIGSEGV, nullptr, &action_before);
    struct sigaction action = {};
    action.sa_sigaction = &OnFault;
    // The program's handler is to run as it would: with that blocked, and on that stack.
    constexpr int kKept = SA_NODEFER | SA_RESTART | SA_ONSTACK;
    action.sa_mask = action_before.sa_mask;
    action.sa_flags =
        SA_SIGINFO | (HasHandler(action_before) ? action_before.sa_flags & kKept : SA_ONSTACK);
    sigaction(SIGSEGV, &action, nullptr);
  });
}

Status RunWatched(Task& task) {
  const RunningTask running(task);
  MLMARGIN_RETURN_IF_ERROR(CheckNotFreed(task, "before it ran, so it did not"));
  MLMARGIN_RETURN_IF_ERROR(task.Run());
  return CheckNotFreed(task, "while it ran");
}

}  // namespace mlmargin::runtime
