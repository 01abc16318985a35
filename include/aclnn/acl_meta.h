/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/**
 * Tensors, scalars, arrays, lists and executors (libnnopbase.so): the arguments of the two-phase
 * operators. Everything here returns when done.
 *
 * Threads: any call may come from any thread; calls that change or destroy one object must not
 * overlap with other calls on it.
 *
 * Results: creators give null on failure, the others an aclnnStatus, 0 for success; the names of
 * the codes are in opdev/op_errno.h. A failure leaves a text for aclGetRecentErrMsg and writes
 * nothing. A handle that is stale or not ours is an error, not a crash.
 */
#ifndef MLMARGIN_INCLUDE_ACLNN_ACL_META_H_
#define MLMARGIN_INCLUDE_ACLNN_ACL_META_H_

#ifdef __cplusplus
#include <cstdint>
#include <cstdlib>
#else
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#endif

#include "acl/acl_base.h"

#ifndef ACLNN_META
#define ACLNN_META

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque; made and ended by the functions below, executors by an operator's two phases. */
typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

/* 0 or a code of opdev/op_errno.h. */
typedef int32_t aclnnStatus;

#ifdef __cplusplus
}
#endif

#endif /* ACLNN_META */

#ifdef __cplusplus
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 6)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#endif
constexpr aclnnStatus OK = 0; /* success; C++ only */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 6)
#pragma GCC diagnostic pop
#endif

extern "C" {
#endif

/* ---- Creation ---- */

/**
 * Describes a view of a block of memory: element (i0, i1, ...) lies offset + sum(i_k * stride_k)
 * elements after tensorData.
 *
 * viewDims, viewDimsNum: the shape the operator sees; count 0 is a 0-D tensor.
 * stride: viewDimsNum entries, in elements; null means contiguous. None is negative.
 * offset: in elements, not negative.
 * storageDims, storageDimsNum: the shape of the whole block.
 * tensorData: device address, should be a multiple of 32; may be null and set later. The tensor
 * never owns it. All arrays are copied.
 *
 * Null if dims are null with a count above 0, negative, or on another wrong argument. The caller
 * ends it with aclDestroyTensor.
 */
ACL_FUNC_VISIBILITY aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                               aclDataType dataType, const int64_t* stride,
                                               int64_t offset, aclFormat format,
                                               const int64_t* storageDims, uint64_t storageDimsNum,
                                               void* tensorData);

/**
 * Sets all properties of an existing tensor; arguments as in aclCreateTensor. A null address or a
 * count of 0 keeps the old value. Null tensor: 161001.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims,
                                              uint64_t viewDimsNum, aclDataType dataType,
                                              const int64_t* stride, int64_t offset,
                                              aclFormat format, const int64_t* storageDims,
                                              uint64_t storageDimsNum, void* tensorDataAddr);

/** Makes a scalar from the value of the given type at value, which is copied. */
ACL_FUNC_VISIBILITY aclScalar* aclCreateScalar(void* value, aclDataType dataType);

/** Makes an array of size integers, copied from value. */
ACL_FUNC_VISIBILITY aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);

/** Makes an array of size floats, copied from value. */
ACL_FUNC_VISIBILITY aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);

/** Makes an array of size booleans, copied from value. */
ACL_FUNC_VISIBILITY aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);

/** Makes a list of size tensors. The list takes them over: destroy the list, not its members. */
ACL_FUNC_VISIBILITY aclTensorList* aclCreateTensorList(const aclTensor* const* value,
                                                       uint64_t size);

/** Makes a list of size scalars. The list takes them over: destroy the list, not its members. */
ACL_FUNC_VISIBILITY aclScalarList* aclCreateScalarList(const aclScalar* const* value,
                                                       uint64_t size);

/* ---- Destruction; null is success ---- */

/**
 * Frees a tensor, not its data; an executor made from it stays good. A second destroy of the
 * same tensor: 161002.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor* tensor);

/** Frees a scalar. */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar* scalar);

/** Frees an array of integers. */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyIntArray(const aclIntArray* array);

/** Frees an array of floats. */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);

/** Frees an array of booleans. */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);

/** Frees a list and the tensors in it. */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensorList(const aclTensorList* array);

/** Frees a list and the scalars in it. */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalarList(const aclScalarList* array);

/* ---- Reading; a null argument is 161001 ---- */

/** Writes the view's shape: a new array, which the caller frees with delete[], and its length. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                                                uint64_t* viewDimsNum);

/** Writes the storage's shape: a new array, freed by the caller with delete[], and its length. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                                                   uint64_t* storageDimsNum);

/** Writes the strides in elements: a new array, freed with delete[], and its length. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                                                  uint64_t* stridesNum);

/** Writes the view's offset in elements. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset);

/** Writes the format. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);

/** Writes the data type. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);

/** Writes the number of elements. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size);

/** Writes the number of elements. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size);

/** Writes the number of elements. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size);

/** Writes the number of tensors. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList,
                                                     uint64_t* size);

/** Writes the number of scalars. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList,
                                                     uint64_t* size);

/* ---- Executors ---- */

/**
 * Lets phase 2 run an executor any number of times. Call it right after phase 1; from then on
 * only aclDestroyAclOpExecutor frees the executor. Null, stale or spent: 561103.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);

/** Frees a repeatable executor, or one that never ran. Null or stale: 561103. */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

/**
 * Gives input number index (from 0) of an executor that is not spent the device address addr,
 * for the next phase 2; the tensor's own address changes too. The tensor must have the
 * shape and data type it had in phase 1. Executor or tensor null: 561103. Index past the end, or
 * another shape or type: 161002.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                      aclTensor* tensor, void* addr);

/** aclSetInputTensorAddr for the outputs, counted from 0. */
ACL_FUNC_VISIBILITY aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                       aclTensor* tensor, void* addr);

/** aclSetInputTensorAddr for all tensors, counted from 0, the inputs first. */
ACL_FUNC_VISIBILITY aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                                 aclTensor* tensor, void* addr);

/**
 * aclSetInputTensorAddr for member relativeIndex of the tensor list that is parameter irIndex
 * among the inputs. List null: 561103. Either index past the end, or no list there: 161002.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor,
                                                             size_t irIndex,
                                                             const size_t relativeIndex,
                                                             aclTensorList* tensors, void* addr);

/** aclSetDynamicInputTensorAddr with irIndex among the outputs. */
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor,
                                                              size_t irIndex,
                                                              const size_t relativeIndex,
                                                              aclTensorList* tensors, void* addr);

/** aclSetDynamicInputTensorAddr with irIndex among all parameters. */
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                        const size_t relativeIndex,
                                                        aclTensorList* tensors, void* addr);

/* The same six functions under their other spelling. */

/** aclSetInputTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                      aclTensor* tensor, void* addr);

/** aclSetOutputTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                       aclTensor* tensor, void* addr);

/** aclSetTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                                 aclTensor* tensor, void* addr);

/** aclSetDynamicInputTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor,
                                                             size_t irIndex,
                                                             const size_t relativeIndex,
                                                             aclTensorList* tensors, void* addr);

/** aclSetDynamicOutputTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor,
                                                              size_t irIndex,
                                                              const size_t relativeIndex,
                                                              aclTensorList* tensors, void* addr);

/** aclSetDynamicTensorAddr. */
ACL_FUNC_VISIBILITY aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                        const size_t relativeIndex,
                                                        aclTensorList* tensors, void* addr);

/**
 * Changes a tensor's own address; before phase 1 or after phase 2, never between them: an
 * executor does not notice. Null tensor: 161001.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr);

/** Writes a tensor's own address. Null argument: 161001. */
ACL_FUNC_VISIBILITY aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr);

#ifdef __cplusplus
}
#endif

#endif /* MLMARGIN_INCLUDE_ACLNN_ACL_META_H_ */
