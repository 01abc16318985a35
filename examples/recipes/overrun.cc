// SPDX-License-Identifier: Apache-2.0
// A mistake of the ordinary kind: the buffer on the host is too small for what is copied into it.
#include <cstdio>
#include <vector>

#include "acl/acl.h"

int main() {
  void* losses = nullptr;
  std::vector<float> host(2);
  const size_t bytes = 4 * sizeof(float);
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtMalloc(&losses, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemset(losses, bytes, 0, bytes);
  aclrtMemcpy(host.data(), bytes, losses, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("the first loss is %g\n", static_cast<double>(host[0]));
  aclFinalize();
}
