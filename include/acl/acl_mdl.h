/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/* Place of the model interface (aclmdl*), which is not part of this package. */
#ifndef MLMARGIN_INCLUDE_ACL_ACL_MDL_H_
#define MLMARGIN_INCLUDE_ACL_ACL_MDL_H_

/* ISO C wants one declaration in a translation unit; nothing uses this tag. */
struct MlmarginEmptyAclMdl;

#endif /* MLMARGIN_INCLUDE_ACL_ACL_MDL_H_ */
