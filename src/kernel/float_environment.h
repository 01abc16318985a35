// SPDX-License-Identifier: Apache-2.0
// The default floating-point environment for the time of a computation.
#ifndef MLMARGIN_KERNEL_FLOAT_ENVIRONMENT_H_
#define MLMARGIN_KERNEL_FLOAT_ENVIRONMENT_H_

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace mlmargin::kernel {

// The caller's thread, or a pool thread that copied some caller's state, may flush subnormals to
// zero or round upwards: both would change the result's bits. Restores the old state at the end,
// the exception flags included.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

#if defined(__x86_64__)
  // As after reset: exceptions masked, round to nearest, no flushing. Much cheaper than fesetenv,
  // which also saves the x87 state.
  DefaultFloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~DefaultFloatEnvironment() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#else
  DefaultFloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif
};

}  // namespace mlmargin::kernel

#endif  // MLMARGIN_KERNEL_FLOAT_ENVIRONMENT_H_
