/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/* Types, constants and error codes shared by all ACL headers. Declares nothing itself. */
#ifndef MLMARGIN_INCLUDE_ACL_ACL_BASE_H_
#define MLMARGIN_INCLUDE_ACL_ACL_BASE_H_

#include "acl/acl_base_mdl.h"
#include "acl/acl_base_rt.h"
#include "error_codes/ge_error_codes.h"
#include "error_codes/rt_error_codes.h"

#endif /* MLMARGIN_INCLUDE_ACL_ACL_BASE_H_ */
