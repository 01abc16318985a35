// SPDX-License-Identifier: Apache-2.0
// Entry points for beginning and end.
#include "nnopbase/c_api.h"

using mlmargin::nnopbase::AclnnCall;

aclnnStatus aclnnInit(const char* configPath) {
  return AclnnCall(__func__, [&] { return mlmargin::runtime::InitAclnn(configPath); });
}

aclnnStatus aclnnFinalize() {
  return AclnnCall(__func__, [] { return mlmargin::runtime::FinalizeAclnn(); });
}
