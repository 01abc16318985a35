/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/**
 * The one header a program needs for the runtime: initialisation, devices, contexts, streams,
 * events, memory, host callbacks and error reports (libascendcl.so). C99 and C++11.
 *
 * Here the device is the host's own CPUs. acl_rt.h says what that changes.
 */
#ifndef MLMARGIN_INCLUDE_ACL_ACL_H_
#define MLMARGIN_INCLUDE_ACL_ACL_H_

#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"

#endif /* MLMARGIN_INCLUDE_ACL_ACL_H_ */
