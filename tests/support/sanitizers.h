// SPDX-License-Identifier: Apache-2.0
// Which sanitizer a test is built with: they bring allocators of their own, keep freed memory for a
// while, and are slow.
#ifndef MLMARGIN_TESTS_SUPPORT_SANITIZERS_H_
#define MLMARGIN_TESTS_SUPPORT_SANITIZERS_H_

#ifdef __has_feature  // Clang's way to tell; GCC defines macros.
#if __has_feature(address_sanitizer)
#define MLMARGIN_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define MLMARGIN_TSAN 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#define MLMARGIN_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define MLMARGIN_TSAN 1
#endif

#if defined(MLMARGIN_ASAN) || defined(MLMARGIN_TSAN)
#define MLMARGIN_SANITIZED 1
#endif

#endif  // MLMARGIN_TESTS_SUPPORT_SANITIZERS_H_
