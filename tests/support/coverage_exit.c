/* SPDX-License-Identifier: Apache-2.0 */
/* For script/coverage, which preloads it: processes that end by _exit, as the children of death
 * tests and of fork do, would lose their counters. Each library has its own; see
 * coverage_register.c. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMaxModules = 64 };
static void (*dumps[kMaxModules])(void);
static size_t num_dumps;

void mlmargin_register_coverage_dump(void (*dump)(void)) {
  if (num_dumps < kMaxModules) dumps[num_dumps++] = dump;
}

_Noreturn void _exit(int status) {
  for (size_t i = 0; i < num_dumps; ++i) dumps[i]();
  for (;;) syscall(SYS_exit_group, status);
}

_Noreturn void _Exit(int status) { _exit(status); }
