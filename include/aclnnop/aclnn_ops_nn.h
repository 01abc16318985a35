/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/* The operators of libopapi_nn.so, all in one header. */
#ifndef MLMARGIN_INCLUDE_ACLNNOP_ACLNN_OPS_NN_H_
#define MLMARGIN_INCLUDE_ACLNNOP_ACLNN_OPS_NN_H_

#include "aclnn_multilabel_margin_loss.h"
#include "aclnn_multilabel_margin_loss_backward.h"

#endif /* MLMARGIN_INCLUDE_ACLNNOP_ACLNN_OPS_NN_H_ */
