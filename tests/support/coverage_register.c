/* SPDX-License-Identifier: Apache-2.0 */
/* For script/coverage, which links it into each library and program: tells coverage_exit.c how to
 * write the counters of this one. */
#include <stddef.h>

void __gcov_dump(void);
__attribute__((weak)) void mlmargin_register_coverage_dump(void (*dump)(void));

__attribute__((constructor)) static void Register(void) {
  if (mlmargin_register_coverage_dump != NULL) mlmargin_register_coverage_dump(__gcov_dump);
}
