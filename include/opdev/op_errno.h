/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/**
 * Status codes of the aclnn functions (values of type aclnnStatus). The first digit tells whose
 * fault it is: 1 the caller's, 3 a runtime call failed, 5 inside the library.
 * No other header includes this one: include it to use the names. Usable in #if.
 */
#ifndef MLMARGIN_INCLUDE_OPDEV_OP_ERRNO_H_
#define MLMARGIN_INCLUDE_OPDEV_OP_ERRNO_H_

#define ACLNN_SUCCESS 0                           /* success */
#define ACLNN_ERR_PARAM_NULLPTR 161001            /* a required pointer is null */
#define ACLNN_ERR_PARAM_INVALID 161002            /* dtype, shape, index or relation wrong */
#define ACLNN_ERR_RUNTIME_ERROR 361001            /* a runtime call made by the operator failed */
#define ACLNN_ERR_INNER 561000                    /* internal, unspecified */
#define ACLNN_ERR_INNER_INFERSHAPE_ERROR 561001   /* output shape not derivable */
#define ACLNN_ERR_INNER_TILING_ERROR 561002       /* tiling failed */
#define ACLNN_ERR_INNER_FIND_KERNEL_ERROR 561003  /* kernel not found */
#define ACLNN_ERR_INNER_CREATE_EXECUTOR 561101    /* executor not created */
#define ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR 561102 /* executor not handed out */
/* internal null; also null executor or tensor in the executor calls */
#define ACLNN_ERR_INNER_NULLPTR 561103
#define ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE 561104                /* attribute count wrong */
#define ACLNN_ERR_INNER_KEY_CONFLICT 561105                        /* kernel key clash */
#define ACLNN_ERR_INNER_KEY_CONFILICT ACLNN_ERR_INNER_KEY_CONFLICT /* old spelling */
#define ACLNN_ERR_INNER_INVALID_IMPL_MODE 561106                   /* implementation mode wrong */
#define ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND 561107                  /* ASCEND_OPP_PATH missing */

/* ISO C wants one declaration in a translation unit; nothing uses this tag. */
struct MlmarginEmptyOpErrno;

#endif /* MLMARGIN_INCLUDE_OPDEV_OP_ERRNO_H_ */
