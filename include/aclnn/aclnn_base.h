/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/* Start and end of the aclnn library (libnnopbase.so). Any call may come from any thread. */
#ifndef MLMARGIN_INCLUDE_ACLNN_ACLNN_BASE_H_
#define MLMARGIN_INCLUDE_ACLNN_ACLNN_BASE_H_

#ifdef __cplusplus
#include <cstdint>
#include <cstdlib>
#else
#include <stdint.h>
#include <stdlib.h>
#endif

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Initialises what aclnn needs; the lighter alternative to aclInit for programs that only run
 * operators. Mixing it with aclInit and aclFinalize is no error.
 *
 * configPath: null, "" or a JSON file; key op_debug_config.enable_debug_kernel, "on" or "off".
 * Returns 0 or an error code: 100002 when called twice without aclnnFinalize between, and those of
 * aclInit about the file.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);

/** Ends what aclnnInit began; 100037 if nothing did. Not to be called from a destructor. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif /* MLMARGIN_INCLUDE_ACLNN_ACLNN_BASE_H_ */
