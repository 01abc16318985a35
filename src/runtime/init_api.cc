// SPDX-License-Identifier: Apache-2.0
// Entry points for beginning and end.
#include "runtime/c_api.h"
#include "runtime/init.h"

using namespace mlmargin::runtime;

aclError aclInit(const char* configPath) {
  return ApiCall(__func__, [&] { return Init(configPath); });
}

aclError aclFinalize() {
  return ApiCall(__func__, [] { return Finalize(); });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return ApiCall(__func__, [&] {
    uint64_t new_count = 0;
    MLMARGIN_RETURN_IF_ERROR(FinalizeReference(&new_count));
    if (refCount != nullptr) *refCount = new_count;
    return Status();
  });
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return ApiCall(__func__, [&] {
    MLMARGIN_RETURN_IF_NULL(majorVersion);
    MLMARGIN_RETURN_IF_NULL(minorVersion);
    MLMARGIN_RETURN_IF_NULL(patchVersion);
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return Status();
  });
}
