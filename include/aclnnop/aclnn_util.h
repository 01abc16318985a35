/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/* ACLNN_API marks the functions that an operator library exports. */
#ifndef MLMARGIN_INCLUDE_ACLNNOP_ACLNN_UTIL_H_
#define MLMARGIN_INCLUDE_ACLNNOP_ACLNN_UTIL_H_

#if defined(_MSC_VER)
#define ACLNN_API __declspec(dllexport)
#else
#define ACLNN_API __attribute__((visibility("default")))
#endif

/* ISO C wants one declaration in a translation unit; nothing uses this tag. */
struct MlmarginEmptyAclnnUtil;

#endif /* MLMARGIN_INCLUDE_ACLNNOP_ACLNN_UTIL_H_ */
