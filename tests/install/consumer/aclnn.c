/* SPDX-License-Identifier: Apache-2.0 */
/* One row through all three libraries of the aclnn API, in C. Returns 0 if its loss is right. */
#include <stdio.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_ops_nn.h"

/* Ends the program with the code of the first call that fails. */
#define CALL(call)                          \
  do {                                      \
    int code = (call);                      \
    if (code != 0) {                        \
      printf("%s: %d\n", #call, code);      \
      printf("%s\n", aclGetRecentErrMsg()); \
      return 1;                             \
    }                                       \
  } while (0)

/* Allocates 64 bytes of device memory and fills them from `bytes` bytes at `data`. */
static int ToDevice(const void* data, size_t bytes, void** device) {
  CALL(aclrtMalloc(device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  CALL(aclrtMemcpy(*device, 64, data, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return 0;
}

int main(void) {
  /* 1/3 * (max(0, 1 - 2 + 1) + max(0, 1 - 2 + 0)) is 0; with class 1 at 1.5 it is 0.5 / 3. */
  const float scores[3] = {2.0f, 1.5f, 0.0f};
  const int32_t labels[3] = {0, -1, -1};
  const int64_t dims[1] = {3};
  float loss = -1.0f;
  uint64_t workspace_bytes = 0;
  void* data[4];
  aclTensor* tensors[4];
  aclOpExecutor* executor = NULL;
  int i;

  CALL(aclInit(NULL));
  CALL(aclrtSetDevice(0));
  CALL(ToDevice(scores, sizeof(scores), &data[0]));
  CALL(ToDevice(labels, sizeof(labels), &data[1]));
  CALL(ToDevice(&loss, sizeof(loss), &data[2]));
  CALL(ToDevice(scores, sizeof(scores), &data[3]));
  for (i = 0; i < 4; ++i) {
    tensors[i] = aclCreateTensor(dims, i == 2 ? 0 : 1, i == 1 ? ACL_INT32 : ACL_FLOAT, NULL, 0,
                                 ACL_FORMAT_ND, dims, i == 2 ? 0 : 1, data[i]);
  }
  CALL(aclnnMultilabelMarginLossGetWorkspaceSize(tensors[0], tensors[1], 0, tensors[2], tensors[3],
                                                 &workspace_bytes, &executor));
  CALL(aclnnMultilabelMarginLoss(NULL, workspace_bytes, executor, NULL));
  CALL(aclrtSynchronizeStream(NULL));
  CALL(aclrtMemcpy(&loss, sizeof(loss), data[2], sizeof(loss), ACL_MEMCPY_DEVICE_TO_HOST));
  for (i = 0; i < 4; ++i) {
    CALL(aclDestroyTensor(tensors[i]));
    CALL(aclrtFree(data[i]));
  }
  CALL(aclrtResetDevice(0));
  CALL(aclFinalize());
  printf("loss %g\n", (double)loss);
  return loss == 0.5f / 3.0f ? 0 : 1;
}
