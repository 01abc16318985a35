// SPDX-License-Identifier: Apache-2.0
// The report of a fault at a device address passes the fault on: what the program made of SIGSEGV
// before happens as it would have without us.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "mlmargin/device.h"
#include "runtime/stream_fixture.h"
#include "support/sanitizers.h"

namespace mlmargin::runtime {
namespace {

using testing::ExitedWithCode;
using testing::KilledBySignal;

using Handler = void (*)(int, siginfo_t*, void*);

// Each test in a process of its own, in which our handler is not there yet.
class FaultReportDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

struct sigaction ActionOf(Handler handler, int flags) {
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO | flags;
  action.sa_sigaction = handler;
  return action;
}

// 32 bytes of isolated memory, of a process that handles SIGSEGV like that.
volatile char* IsolatedBytes(const struct sigaction& action) {
  sigaction(SIGSEGV, &action, nullptr);
  void* device = nullptr;
  if (!SetDeviceMemory(DeviceMemory::kIsolated) || aclInit(nullptr) != 0) _Exit(101);
  if (aclrtSetDevice(0) != 0) _Exit(102);
  if (aclrtMalloc(&device, 32, ACL_MEM_MALLOC_HUGE_FIRST) != 0) _Exit(103);
  return static_cast<volatile char*>(device);
}

[[gnu::noinline]] void Read(volatile char* from) { [[maybe_unused]] volatile char value = *from; }

constexpr char kFault[] = "device address 0x[0-9a-f]+ was (read|touched) by the host";

TEST_F(FaultReportDeathTest, TheHandlerOfTheProgramGetsTheFault) {
  const auto run = [] {
    Read(IsolatedBytes(ActionOf([](int, siginfo_t*, void*) { _Exit(42); }, 0)));
  };
  EXPECT_EXIT(run(), ExitedWithCode(42), kFault);
}

TEST_F(FaultReportDeathTest, AHandlerForOneFaultGetsOne) {
#ifdef MLMARGIN_SANITIZED
  GTEST_SKIP() << "the sanitizer has the next one";
#endif
  const auto run = [] {
    const auto say = [](int, siginfo_t*, void*) {
      [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, "handled\n", 8);
    };
    Read(IsolatedBytes(ActionOf(say, static_cast<int>(SA_RESETHAND))));
  };
  EXPECT_EXIT(run(), KilledBySignal(SIGSEGV),
              std::string("^[^\n]*") + kFault + "[^\n]*\nhandled\n$");
}

TEST_F(FaultReportDeathTest, ASignalThatIsIgnoredStaysIgnored) {
  const auto run = [] {
    struct sigaction action = {};
    action.sa_handler = SIG_IGN;
    IsolatedBytes(action);
    kill(getpid(), SIGSEGV);
    _Exit(42);
  };
  EXPECT_EXIT(run(), ExitedWithCode(42), "^$");
}

TEST_F(FaultReportDeathTest, ASignalThatIsNotHandledEndsTheProcess) {
#ifdef MLMARGIN_SANITIZED
  GTEST_SKIP() << "the sanitizer handles it";
#endif
  const auto run = [] {
    IsolatedBytes({});
    kill(getpid(), SIGSEGV);
    _Exit(42);
  };
  EXPECT_EXIT(run(), KilledBySignal(SIGSEGV), "^$");
}

bool IsBlocked(int number) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, number) != 0;
}

TEST_F(FaultReportDeathTest, TheHandlerRunsWithItsOwnMask) {
#ifdef MLMARGIN_TSAN
  GTEST_SKIP() << "the sanitizer blocks all signals in handlers";
#endif
  const auto run = [](int flags) {
    struct sigaction action = ActionOf(
        [](int, siginfo_t*, void*) {
          _Exit(40 + (IsBlocked(SIGUSR1) ? 1 : 0) + (IsBlocked(SIGSEGV) ? 2 : 0) +
                (IsBlocked(SIGUSR2) ? 4 : 0));
        },
        flags);
    sigaddset(&action.sa_mask, SIGUSR1);
    Read(IsolatedBytes(action));
  };
  EXPECT_EXIT(run(0), ExitedWithCode(43), kFault);
  EXPECT_EXIT(run(SA_NODEFER), ExitedWithCode(41), kFault);
}

// Room for a handler that does next to nothing: the places are left out, and nothing beside that
// room is written.
TEST_F(FaultReportDeathTest, ASmallStackForSignalsIsEnough) {
#ifdef MLMARGIN_SANITIZED
  GTEST_SKIP() << "the sanitizer's own handlers need more";
#endif
  const auto run = [](size_t size) {
    constexpr size_t kBelow = 64 << 10;
    static std::array<unsigned char, kBelow + (16 << 10)> memory;
    memory.fill(0xA5);
    const stack_t stack = {.ss_sp = memory.data() + kBelow, .ss_flags = 0, .ss_size = size};
    if (size > (16 << 10) || sigaltstack(&stack, nullptr) != 0) _Exit(1);
    const auto look = [](int, siginfo_t*, void*) {
      const bool clean = std::all_of(memory.begin(), memory.begin() + kBelow,
                                     [](unsigned char byte) { return byte == 0xA5; });
      _Exit(clean ? 42 : 2);
    };
    Read(IsolatedBytes(ActionOf(look, SA_ONSTACK)));
  };
  // What SIGSTKSZ was for decades, where the processor's registers leave it room.
  const size_t least = std::max(size_t{8} << 10, getauxval(AT_MINSIGSTKSZ) + (size_t{4} << 10));
  for (const size_t size : {least, size_t{16} << 10}) {
    EXPECT_EXIT(
        run(size), ExitedWithCode(42),
        "by the host: byte 0 of device allocation [0-9]+ .32 bytes at 0x[0-9a-f]+ on device 0.\\.");
  }
}

// The constructor of the library that is being loaded waits for the device, under the loader's
// lock.
TEST_F(FaultReportDeathTest, WaitsForNoLibraryThatIsBeingLoaded) {
  const auto run = [] {
    volatile char* const device = IsolatedBytes({});
    alarm(20);
    const auto wait = [](void*) {
      while (true) pause();
    };
    if (aclrtLaunchHostFunc(nullptr, wait, nullptr) != 0) _Exit(1);
    std::thread([] {
      dlopen(MLMARGIN_WAITING_LIBRARY, RTLD_NOW);
      _Exit(2);  // It does not come back from there.
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    Read(device);
  };
  EXPECT_EXIT(
      run(), [](int status) { return status != 0 && !KilledBySignal(SIGALRM)(status); },
      std::string(kFault) + " at .*fault_report_test.cc:[0-9]+: byte 0 of");
}

TEST_F(FaultReportDeathTest, ALineOfAThreadStaysWhole) {
  const auto run = [] {
    constexpr int kThreads = 8;
    static std::atomic<int> num_faults = 0;
    const auto wait = [](int, siginfo_t*, void*) {
      if (++num_faults == kThreads) _Exit(42);
      while (true) pause();
    };
    volatile char* const device = IsolatedBytes(ActionOf(wait, 0));
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([&] { Read(device); });
    for (std::thread& thread : threads) thread.join();
  };
  EXPECT_EXIT(run(), ExitedWithCode(42),
              std::string("^(mlmargin: ") + kFault + "[^\n]*brings the bytes over\\.\n){8}$");
}

}  // namespace
}  // namespace mlmargin::runtime
