// SPDX-License-Identifier: Apache-2.0
// What a file that defines public C functions includes: their declarations (exported, since the
// target defines FUNC_VISIBILITY), the way in, and the words of the common errors.
#ifndef MLMARGIN_RUNTIME_C_API_H_
#define MLMARGIN_RUNTIME_C_API_H_

#include "acl/acl.h"
#include "runtime/api_call.h"
#include "runtime/errors.h"
#include "runtime/status.h"

#endif  // MLMARGIN_RUNTIME_C_API_H_
