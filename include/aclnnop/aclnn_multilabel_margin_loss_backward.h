/* SPDX-License-Identifier: Apache-2.0 */
/* An extension of this project: CANN has no such operator. Independent text, Apache-2.0. */

/**
 * The gradient of the multilabel margin (hinge) loss of aclnn_multilabel_margin_loss.h by the
 * scores, times the gradient by the loss (libopapi_nn.so). Not in CANN: a program that calls it
 * does not link there.
 *
 * With x a row of self, C its length, y the row's labels (the entries of target's row before the
 * first -1) and g the element of gradOutput that belongs to the row:
 *
 *     gradInput[i] = g / C * number of j in y with 1 - x[j] + x[i] > 0,    for i not in y
 *     gradInput[k] = -g / C * times that k is listed
 *                    * number of i not in y with 1 - x[k] + x[i] > 0,      for k in y
 *
 * reduction 0 (none): gradOutput has one element a row. 1 (mean): one in all, and gradInput is
 * divided by N as well. 2 (sum): one in all. A hinge of exactly 0 has gradient 0.
 *
 * | argument   | shape                           | data type              |
 * | ---------- | ------------------------------- | ---------------------- |
 * | gradOutput | none with (N, C): (N); else one | as self                |
 * |            | element of at most 1-D          |                        |
 * | self       | (N, C) or (C); 0-D is C = 1     | FLOAT, FLOAT16 or BF16 |
 * | target     | as self                         | INT32 or INT64         |
 * | isTarget   | as target                       | as self                |
 * | gradInput  | as self                         | as self                |
 *
 * isTarget is the one that the loss wrote; its shape and data type must fit. Its data is never
 * read, since target says the same: it may be anything, and its address anything or null.
 *
 * Formats, views, strides and offsets, 0-D and (1), edges and threads are those of the loss.
 * gradInput must not share a byte with another argument, isTarget included, nor two elements of it
 * an address. N = 0: nothing is written; isTarget is then any empty shape of at most 2-D. A label
 * outside -1 .. C-1 before the first -1 is skipped and counted; in mode error of
 * MLMARGIN_LABEL_CHECK gradInput stays untouched, and the next synchronisation of the stream
 * returns 507035.
 *
 * Numbers: the counts are exact, and a finite result is within 1 ulp of the exact value. NaN
 * scores have no gradient, nor has a +inf label; of a -inf label every pair with a class above -inf
 * counts. The same inputs give the same bits for any thread count, stream, alignment, stride, batch
 * and SIMD target.
 *
 * Every failure leaves a text for aclGetRecentErrMsg. Names of the codes: opdev/op_errno.h.
 */
#ifndef MLMARGIN_INCLUDE_ACLNNOP_ACLNN_MULTILABEL_MARGIN_LOSS_BACKWARD_H_
#define MLMARGIN_INCLUDE_ACLNNOP_ACLNN_MULTILABEL_MARGIN_LOSS_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments, in this order, and plans the work. Reads and writes no data.
 *
 * workspaceSize: gets 0, for no workspace is needed. executor: gets the plan, for phase 2 or
 * aclDestroyAclOpExecutor. It holds what it needs: the tensors may be destroyed at once, their
 * data must live until phase 2's work is done. Data addresses may still be null, and set before
 * phase 2. For aclSet*TensorAddr the inputs are gradOutput 0, self 1, target 2, isTarget 3, and
 * the output is gradInput 0, or 4 among all.
 *
 * Returns 0, or
 * - 161001: workspaceSize, executor, gradOutput, self, target, isTarget or gradInput is null;
 * - 161002: a data type, shape or format not in the table above, a view that reaches outside its
 *   storage, a gradInput that overlaps, or a reduction other than 0, 1 and 2.
 * On failure *executor is null.
 */
ACLNN_API aclnnStatus aclnnMultilabelMarginLossBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclTensor* target, int64_t reduction,
    const aclTensor* isTarget, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor);

/**
 * Phase 2: queues the work on a stream (null: the default stream) and returns. The data must live
 * until the stream has been synchronised; failures of the work itself (507035: label check;
 * 207001: out of memory) are returned there.
 *
 * Consumes an executor of this operator, on failure too, unless aclSetAclOpExecutorRepeatable was
 * called on it.
 *
 * Returns 0, or, with nothing queued, the codes of aclnnMultilabelMarginLoss. Of isTarget's address
 * it asks nothing but that gradInput does not overlap it.
 */
ACLNN_API aclnnStatus aclnnMultilabelMarginLossBackward(void* workspace, uint64_t workspaceSize,
                                                        aclOpExecutor* executor,
                                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* MLMARGIN_INCLUDE_ACLNNOP_ACLNN_MULTILABEL_MARGIN_LOSS_BACKWARD_H_ */
