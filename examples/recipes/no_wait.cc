// SPDX-License-Identifier: Apache-2.0
// A mistake that mostly goes well: it copies a result without waiting for the stream that makes it.
#include <cstdio>

#include "acl/acl.h"

int main() {
  void* losses = nullptr;
  aclrtStream stream = nullptr;
  float host[4];
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtCreateStream(&stream);
  aclrtMalloc(&losses, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemsetAsync(losses, sizeof(host), 0, sizeof(host), stream);  // Stands for an operator.
  aclrtMemcpy(host, sizeof(host), losses, sizeof(host), ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("the first loss is %g\n", static_cast<double>(host[0]));
  aclFinalize();
}
