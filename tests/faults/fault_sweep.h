// SPDX-License-Identifier: Apache-2.0
// Goes through a flow of calls again and again, with another request for memory or a thread made to
// fail each time, in a process of its own each time: so that the first use of everything is met
// too, and a crash or a hang is one failed case.
#ifndef MLMARGIN_TESTS_FAULTS_FAULT_SWEEP_H_
#define MLMARGIN_TESTS_FAULTS_FAULT_SWEEP_H_

#include <cstdint>

#include "faults/fault_injector.h"

namespace mlmargin::testing {

// What a flow does about a call that fails.
enum class Attempt {
  kSound,    // Nothing may fail.
  kRetried,  // It makes the call again, which must work then.
  kBroken,   // It gives up, and gives back what it has, while everything goes on failing.
};

// What all flows say of a call that failed.
struct Shortage {
  bool (*is_code)(int32_t code);  // Whether the code says that memory or a thread was lacking.
  bool (*has_message)();          // Whether the call left words.
};

// One turn of a flow. All that fails ends the process with a line that says why.
class FlowRun {
 public:
  FlowRun(Attempt attempt, Shortage shortage) : attempt_(attempt), shortage_(shortage) {}

  // Makes a call, which returns its code. False: the flow has given up, and makes no further call.
  template <class Call>
  bool Do(const char* what, Call call) {
    if (broken_) return false;
    int32_t code = call();
    if (code == 0) return true;
    CheckFailure(what, code);
    if (broken_) return false;
    code = call();
    if (code != 0) Fail(what, "fails for good", code);
    return true;
  }

  // A call that gives something back must work without memory.
  void GiveBack(const char* what, int32_t code) const;

  // A result that must be right, unless the flow has given up.
  void Check(const char* what, bool right) const;

  bool broken() const { return broken_; }

 private:
  void CheckFailure(const char* what, int32_t code);
  [[noreturn]] static void Fail(const char* what, const char* how, int32_t code);

  const Attempt attempt_;
  const Shortage shortage_;
  bool broken_ = false;
};

// Checks, for each n and until there is no n-th request any more, that the flow copes with the
// failure of the n-th, that a sound turn then gives the right results, and that as many blocks live
// after it as after sound turns alone.
struct FaultFlow {
  void (*run)(Attempt);
  bool ends_its_threads;  // Else they are oneTBB's.
};
void SweepFaults(const FaultFlow& flow, FaultMode mode);

}  // namespace mlmargin::testing

#endif  // MLMARGIN_TESTS_FAULTS_FAULT_SWEEP_H_
