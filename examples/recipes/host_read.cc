// SPDX-License-Identifier: Apache-2.0
// A mistake that a host forgives and an NPU does not: it reads device memory as if it were its own.
#include <cstdio>

#include "acl/acl.h"

int main() {
  void* losses = nullptr;
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtMalloc(&losses, 4 * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemset(losses, 4 * sizeof(float), 0, 4 * sizeof(float));
  const float first = *static_cast<float*>(losses);
  std::printf("the first loss is %g\n", static_cast<double>(first));
  aclFinalize();
}
