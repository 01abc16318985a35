/* SPDX-License-Identifier: Apache-2.0 */

/**
 * Every function of the C API, assigned to a pointer of the type that the fact sheet gives it: a
 * wrong parameter or return type stops the compiler. Typed from the fact sheet. C99 and C++11.
 * The pointers stay in the object file, so linking it checks that the libraries export them all.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_multilabel_margin_loss.h"
#include "aclnnop/aclnn_multilabel_margin_loss_backward.h"

#ifndef __cplusplus
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#endif
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define FUNCTION(result, name, parameters) \
  static result(*p_##name) parameters __attribute__((used)) = name

/* ---- libascendcl: initialisation, errors, general ---- */

FUNCTION(aclError, aclInit, (const char*));
FUNCTION(aclError, aclFinalize, (void));
FUNCTION(aclError, aclFinalizeReference, (uint64_t*));
FUNCTION(const char*, aclGetRecentErrMsg, (void));
FUNCTION(aclError, aclrtGetVersion, (int32_t*, int32_t*, int32_t*));
FUNCTION(const char*, aclrtGetSocName, (void));
FUNCTION(aclError, aclrtGetLastError, (aclrtLastErrLevel));
FUNCTION(aclError, aclrtPeekAtLastError, (aclrtLastErrLevel));
FUNCTION(void, aclAppLog, (aclLogLevel, const char*, const char*, uint32_t, const char*, ...));
FUNCTION(aclError, aclGetCannAttribute, (aclCannAttr, int32_t*));
FUNCTION(aclError, aclGetCannAttributeList, (const aclCannAttr**, size_t*));
FUNCTION(aclError, aclGetDeviceCapability, (uint32_t, aclDeviceInfo, int64_t*));
FUNCTION(size_t, aclDataTypeSize, (aclDataType));
FUNCTION(float, aclFloat16ToFloat, (aclFloat16));
FUNCTION(aclFloat16, aclFloatToFloat16, (float));
FUNCTION(aclDataBuffer*, aclCreateDataBuffer, (void*, size_t));
FUNCTION(aclError, aclDestroyDataBuffer, (const aclDataBuffer*));
FUNCTION(aclError, aclUpdateDataBuffer, (aclDataBuffer*, void*, size_t));
FUNCTION(void*, aclGetDataBufferAddr, (const aclDataBuffer*));
FUNCTION(uint32_t, aclGetDataBufferSize, (const aclDataBuffer*));
FUNCTION(size_t, aclGetDataBufferSizeV2, (const aclDataBuffer*));

/* ---- libascendcl: devices, contexts, options ---- */

FUNCTION(aclError, aclrtSetDevice, (int32_t));
FUNCTION(aclError, aclrtResetDevice, (int32_t));
FUNCTION(aclError, aclrtResetDeviceForce, (int32_t));
FUNCTION(aclError, aclrtGetDevice, (int32_t*));
FUNCTION(aclError, aclrtGetDeviceCount, (uint32_t*));
FUNCTION(aclError, aclrtSynchronizeDevice, (void));
FUNCTION(aclError, aclrtSynchronizeDeviceWithTimeout, (int32_t));
FUNCTION(aclError, aclrtGetRunMode, (aclrtRunMode*));
FUNCTION(aclError, aclrtQueryDeviceStatus, (int32_t, aclrtDeviceStatus*));
FUNCTION(aclError, aclrtGetDeviceInfo, (uint32_t, aclrtDevAttr, int64_t*));
FUNCTION(aclError, aclrtCreateContext, (aclrtContext*, int32_t));
FUNCTION(aclError, aclrtDestroyContext, (aclrtContext));
FUNCTION(aclError, aclrtSetCurrentContext, (aclrtContext));
FUNCTION(aclError, aclrtGetCurrentContext, (aclrtContext*));
FUNCTION(aclError, aclrtCtxGetSysParamOpt, (aclSysParamOpt, int64_t*));
FUNCTION(aclError, aclrtCtxSetSysParamOpt, (aclSysParamOpt, int64_t));
FUNCTION(aclError, aclrtGetSysParamOpt, (aclSysParamOpt, int64_t*));
FUNCTION(aclError, aclrtSetSysParamOpt, (aclSysParamOpt, int64_t));
FUNCTION(aclError, aclrtCtxGetCurrentDefaultStream, (aclrtStream*));
FUNCTION(aclError, aclrtGetPrimaryCtxState, (int32_t, uint32_t*, int32_t*));

/* ---- libascendcl: streams ---- */

FUNCTION(aclError, aclrtCreateStream, (aclrtStream*));
FUNCTION(aclError, aclrtCreateStreamWithConfig, (aclrtStream*, uint32_t, uint32_t));
FUNCTION(aclError, aclrtDestroyStream, (aclrtStream));
FUNCTION(aclError, aclrtDestroyStreamForce, (aclrtStream));
FUNCTION(aclError, aclrtSynchronizeStream, (aclrtStream));
FUNCTION(aclError, aclrtSynchronizeStreamWithTimeout, (aclrtStream, int32_t));
FUNCTION(aclError, aclrtStreamQuery, (aclrtStream, aclrtStreamStatus*));
FUNCTION(aclError, aclrtStreamWaitEvent, (aclrtStream, aclrtEvent));
FUNCTION(aclError, aclrtStreamAbort, (aclrtStream));
FUNCTION(aclError, aclrtStreamGetId, (aclrtStream, int32_t*));
FUNCTION(aclError, aclrtGetStreamAvailableNum, (uint32_t*));
FUNCTION(aclError, aclrtSetStreamFailureMode, (aclrtStream, uint64_t));
FUNCTION(aclError, aclrtSetOpExecuteTimeOut, (uint32_t));
FUNCTION(aclError, aclrtSetOpWaitTimeout, (uint32_t));
FUNCTION(aclError, aclrtStreamGetPriority, (aclrtStream, uint32_t*));
FUNCTION(aclError, aclrtStreamGetFlags, (aclrtStream, uint32_t*));

/* ---- libascendcl: events ---- */

FUNCTION(aclError, aclrtCreateEvent, (aclrtEvent*));
FUNCTION(aclError, aclrtCreateEventWithFlag, (aclrtEvent*, uint32_t));
FUNCTION(aclError, aclrtCreateEventExWithFlag, (aclrtEvent*, uint32_t));
FUNCTION(aclError, aclrtDestroyEvent, (aclrtEvent));
FUNCTION(aclError, aclrtRecordEvent, (aclrtEvent, aclrtStream));
FUNCTION(aclError, aclrtResetEvent, (aclrtEvent, aclrtStream));
FUNCTION(aclError, aclrtQueryEvent, (aclrtEvent, aclrtEventStatus*));
FUNCTION(aclError, aclrtQueryEventStatus, (aclrtEvent, aclrtEventRecordedStatus*));
FUNCTION(aclError, aclrtQueryEventWaitStatus, (aclrtEvent, aclrtEventWaitStatus*));
FUNCTION(aclError, aclrtSynchronizeEvent, (aclrtEvent));
FUNCTION(aclError, aclrtSynchronizeEventWithTimeout, (aclrtEvent, int32_t));
FUNCTION(aclError, aclrtEventElapsedTime, (float*, aclrtEvent, aclrtEvent));
FUNCTION(aclError, aclrtEventGetTimestamp, (aclrtEvent, uint64_t*));
FUNCTION(aclError, aclrtGetEventId, (aclrtEvent, uint32_t*));
FUNCTION(aclError, aclrtGetEventAvailNum, (uint32_t*));

/* ---- libascendcl: memory ---- */

FUNCTION(aclError, aclrtMalloc, (void**, size_t, aclrtMemMallocPolicy));
FUNCTION(aclError, aclrtMallocAlign32, (void**, size_t, aclrtMemMallocPolicy));
FUNCTION(aclError, aclrtMallocCached, (void**, size_t, aclrtMemMallocPolicy));
FUNCTION(aclError, aclrtFree, (void*));
FUNCTION(aclError, aclrtMallocHost, (void**, size_t));
FUNCTION(aclError, aclrtFreeHost, (void*));
FUNCTION(aclError, aclrtMemcpy, (void*, size_t, const void*, size_t, aclrtMemcpyKind));
FUNCTION(aclError, aclrtMemcpyAsync,
         (void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream));
FUNCTION(aclError, aclrtMemcpy2d,
         (void*, size_t, const void*, size_t, size_t, size_t, aclrtMemcpyKind));
FUNCTION(aclError, aclrtMemcpy2dAsync,
         (void*, size_t, const void*, size_t, size_t, size_t, aclrtMemcpyKind, aclrtStream));
FUNCTION(aclError, aclrtMemset, (void*, size_t, int32_t, size_t));
FUNCTION(aclError, aclrtMemsetAsync, (void*, size_t, int32_t, size_t, aclrtStream));
FUNCTION(aclError, aclrtGetMemInfo, (aclrtMemAttr, size_t*, size_t*));
FUNCTION(aclError, aclrtHostRegister, (void*, uint64_t, aclrtHostRegisterType, void**));
FUNCTION(aclError, aclrtHostUnregister, (void*));
FUNCTION(aclError, aclrtHostGetDevicePointer, (void*, void**, uint32_t));
FUNCTION(aclError, aclrtMemFlush, (void*, size_t));
FUNCTION(aclError, aclrtMemInvalidate, (void*, size_t));
FUNCTION(aclError, aclrtPointerGetAttributes, (const void*, aclrtPtrAttributes*));

/* ---- libascendcl: host callbacks ---- */

FUNCTION(aclError, aclrtLaunchHostFunc, (aclrtStream, void (*)(void*), void*));
FUNCTION(aclError, aclrtLaunchCallback,
         (void (*)(void*), void*, aclrtCallbackBlockType, aclrtStream));
FUNCTION(aclError, aclrtSubscribeReport, (uint64_t, aclrtStream));
FUNCTION(aclError, aclrtProcessReport, (int32_t));
FUNCTION(aclError, aclrtUnSubscribeReport, (uint64_t, aclrtStream));

/* ---- libnnopbase: tensors, lists ---- */

FUNCTION(aclTensor*, aclCreateTensor,
         (const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t, aclFormat, const int64_t*,
          uint64_t, void*));
FUNCTION(aclnnStatus, aclInitTensor,
         (aclTensor*, const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t, aclFormat,
          const int64_t*, uint64_t, void*));
FUNCTION(aclScalar*, aclCreateScalar, (void*, aclDataType));
FUNCTION(aclIntArray*, aclCreateIntArray, (const int64_t*, uint64_t));
FUNCTION(aclFloatArray*, aclCreateFloatArray, (const float*, uint64_t));
FUNCTION(aclBoolArray*, aclCreateBoolArray, (const bool*, uint64_t));
FUNCTION(aclTensorList*, aclCreateTensorList, (const aclTensor* const*, uint64_t));
FUNCTION(aclScalarList*, aclCreateScalarList, (const aclScalar* const*, uint64_t));
FUNCTION(aclnnStatus, aclDestroyTensor, (const aclTensor*));
FUNCTION(aclnnStatus, aclDestroyScalar, (const aclScalar*));
FUNCTION(aclnnStatus, aclDestroyIntArray, (const aclIntArray*));
FUNCTION(aclnnStatus, aclDestroyFloatArray, (const aclFloatArray*));
FUNCTION(aclnnStatus, aclDestroyBoolArray, (const aclBoolArray*));
FUNCTION(aclnnStatus, aclDestroyTensorList, (const aclTensorList*));
FUNCTION(aclnnStatus, aclDestroyScalarList, (const aclScalarList*));
FUNCTION(aclnnStatus, aclGetViewShape, (const aclTensor*, int64_t**, uint64_t*));
FUNCTION(aclnnStatus, aclGetStorageShape, (const aclTensor*, int64_t**, uint64_t*));
FUNCTION(aclnnStatus, aclGetViewStrides, (const aclTensor*, int64_t**, uint64_t*));
FUNCTION(aclnnStatus, aclGetViewOffset, (const aclTensor*, int64_t*));
FUNCTION(aclnnStatus, aclGetFormat, (const aclTensor*, aclFormat*));
FUNCTION(aclnnStatus, aclGetDataType, (const aclTensor*, aclDataType*));
FUNCTION(aclnnStatus, aclGetIntArraySize, (const aclIntArray*, uint64_t*));
FUNCTION(aclnnStatus, aclGetFloatArraySize, (const aclFloatArray*, uint64_t*));
FUNCTION(aclnnStatus, aclGetBoolArraySize, (const aclBoolArray*, uint64_t*));
FUNCTION(aclnnStatus, aclGetTensorListSize, (const aclTensorList*, uint64_t*));
FUNCTION(aclnnStatus, aclGetScalarListSize, (const aclScalarList*, uint64_t*));
FUNCTION(aclnnStatus, aclSetRawTensorAddr, (aclTensor*, void*));
FUNCTION(aclnnStatus, aclGetRawTensorAddr, (const aclTensor*, void**));

/* ---- libnnopbase: executors, start and end ---- */

FUNCTION(aclnnStatus, aclSetAclOpExecutorRepeatable, (aclOpExecutor*));
FUNCTION(aclnnStatus, aclDestroyAclOpExecutor, (aclOpExecutor*));
FUNCTION(aclnnStatus, aclSetInputTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*));
FUNCTION(aclnnStatus, aclSetOutputTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*));
FUNCTION(aclnnStatus, aclSetTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*));
FUNCTION(aclnnStatus, aclSetDynamicInputTensorAddr,
         (aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
FUNCTION(aclnnStatus, aclSetDynamicOutputTensorAddr,
         (aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
FUNCTION(aclnnStatus, aclSetDynamicTensorAddr,
         (aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
FUNCTION(aclnnStatus, AclSetInputTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*));
FUNCTION(aclnnStatus, AclSetOutputTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*));
FUNCTION(aclnnStatus, AclSetTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*));
FUNCTION(aclnnStatus, AclSetDynamicInputTensorAddr,
         (aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
FUNCTION(aclnnStatus, AclSetDynamicOutputTensorAddr,
         (aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
FUNCTION(aclnnStatus, AclSetDynamicTensorAddr,
         (aclOpExecutor*, size_t, size_t, aclTensorList*, void*));
FUNCTION(aclnnStatus, aclnnInit, (const char*));
FUNCTION(aclnnStatus, aclnnFinalize, (void));

/* ---- libopapi_nn ---- */

FUNCTION(aclnnStatus, aclnnMultilabelMarginLossGetWorkspaceSize,
         (const aclTensor*, const aclTensor*, int64_t, aclTensor*, aclTensor*, uint64_t*,
          aclOpExecutor**));
FUNCTION(aclnnStatus, aclnnMultilabelMarginLoss, (void*, uint64_t, aclOpExecutor*, aclrtStream));
/* Extensions of this project, typed from docs/api.md. */
FUNCTION(aclnnStatus, aclnnMultilabelMarginLossBackwardGetWorkspaceSize,
         (const aclTensor*, const aclTensor*, const aclTensor*, int64_t, const aclTensor*,
          aclTensor*, uint64_t*, aclOpExecutor**));
FUNCTION(aclnnStatus, aclnnMultilabelMarginLossBackward,
         (void*, uint64_t, aclOpExecutor*, aclrtStream));
