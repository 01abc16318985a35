// SPDX-License-Identifier: Apache-2.0
// What a file that defines public C functions includes: their declarations (exported, since the
// target defines FUNC_VISIBILITY), the way in, and the words of the common errors.
#ifndef MLMARGIN_NNOPBASE_C_API_H_
#define MLMARGIN_NNOPBASE_C_API_H_

#include <utility>

#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "nnopbase/errors.h"
#include "runtime/api_call.h"

namespace mlmargin::nnopbase {

// runtime::ApiCall with the codes of aclnn.
template <typename Body>
aclnnStatus AclnnCall(const char* function, Body&& body, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) noexcept {
  return runtime::ApiCall(function, std::forward<Body>(body), runtime::ApiFamily::kAclnn, file,
                          line);
}

}  // namespace mlmargin::nnopbase

#endif  // MLMARGIN_NNOPBASE_C_API_H_
