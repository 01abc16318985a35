/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values follow the public CANN API, interface 1.17; independent text, Apache-2.0. */

/**
 * The multilabel margin (hinge) loss of scores against lists of labels, and the labels' mask
 * (libopapi_nn.so).
 *
 * With x a row of self, C its length, and y the row's labels, that is the entries of target's row
 * before the first -1:
 *
 *     isTarget[k] = 1 if k is in y, else 0
 *     loss        = (1 / C) * sum over j in y, sum over i with isTarget[i] = 0,
 *                   of max(0, 1 - (x[j] - x[i]))
 *
 * reduction 0 (none): out holds one loss a row. 1 (mean): their sum / N. 2 (sum): their sum.
 *
 * | argument | shape                           | data type              |
 * | -------- | ------------------------------- | ---------------------- |
 * | self     | (N, C) or (C); 0-D is C = 1     | FLOAT, FLOAT16 or BF16 |
 * | target   | as self                         | INT32 or INT64         |
 * | out      | none with (N, C): (N); else one | as self                |
 * |          | element of at most 1-D          |                        |
 * | isTarget | as target                       | as self                |
 *
 * C >= 1. Format ND; NC, NCL, NCHW, NHWC, HWCN, NCDHW and NDHWC are read as ND. Any strides and
 * offsets, stride 0 in inputs too; nothing outside a view is read, and no byte between its
 * elements written. An output must not share a byte with another argument, nor two elements of
 * it an address. (C) and 0-D stand for one row; 0-D and (1) are interchangeable.
 *
 * Edges: a label listed twice counts twice. A row without labels, or with all classes as labels,
 * has loss 0. N = 0: none writes nothing, sum gives 0, mean NaN; isTarget is then any empty shape
 * of at most 2-D. A pair counts when 1 - x[j] + x[i] > 0, so NaN adds nothing and +inf stays
 * +inf. A label outside -1 .. C-1 before the first -1 is skipped and counted;
 * MLMARGIN_LABEL_CHECK says what then: ignore; warn (the default: a line in the log); error (out
 * and isTarget stay untouched, and the next synchronisation of the stream returns 507035).
 *
 * Numbers: a finite result is within 1 ulp of the exact value for the stored inputs. The same
 * inputs give the same bits for any thread count, stream, alignment, stride, batch and SIMD
 * target; ACL_OPT_DETERMINISTIC is not needed.
 *
 * Errata: where the published page has max(0, 1 - x[j] - x[i]), a negative log likelihood, or a
 * sum over the mask instead of the list of labels, this header holds. The sample there passes
 * labels 3, 4, 5 with C = 3: they are skipped; its losses are 0, 0 and its mask 1 1 1 0 0 0.
 *
 * Threads: any call may come from any thread; one executor is used by one call at a time.
 * Every failure leaves a text for aclGetRecentErrMsg. Names of the codes: opdev/op_errno.h.
 */
#ifndef MLMARGIN_INCLUDE_ACLNNOP_ACLNN_MULTILABEL_MARGIN_LOSS_H_
#define MLMARGIN_INCLUDE_ACLNNOP_ACLNN_MULTILABEL_MARGIN_LOSS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Phase 1: checks the arguments, in this order, and plans the work. Reads and writes no data.
 *
 * workspaceSize: gets the bytes of device memory that phase 2 wants: 1 MB + 16 bytes a row at
 * most, 0 for none. executor: gets the plan, for phase 2 or aclDestroyAclOpExecutor. It holds
 * what it needs: the tensors may be destroyed at once, their data must live until phase 2's work
 * is done. Data addresses may still be null, and set before phase 2.
 *
 * Returns 0, or
 * - 161001: workspaceSize, executor, self, target, out or isTarget is null;
 * - 161002: a data type, shape or format not in the table above, a view that reaches outside its
 *   storage, outputs that overlap, or a reduction other than 0, 1 and 2.
 * On failure *executor is null.
 */
ACLNN_API aclnnStatus aclnnMultilabelMarginLossGetWorkspaceSize(
    const aclTensor* self, const aclTensor* target, int64_t reduction, aclTensor* out,
    aclTensor* isTarget, uint64_t* workspaceSize, aclOpExecutor** executor);

/**
 * Phase 2: queues the work on a stream (null: the default stream) and returns. The workspace and
 * the data must live until the stream has been synchronised; failures of the work itself
 * (507035: label check; 207001: out of memory) are returned there.
 *
 * Consumes an executor of this operator, on failure too, unless aclSetAclOpExecutorRepeatable was
 * called on it.
 *
 * Returns 0, or, with nothing queued,
 * - 161001: executor null, or workspace null where one is needed;
 * - 161002: workspaceSize below phase 1's, or a workspace outside device memory; a tensor's data
 *   null, or outside any live device allocation or registered host memory; outputs that overlap;
 * - 561103: executor spent or not one of this operator;
 * - 107002: no current context; 107017: stream unknown; 107003: stream of another context;
 *   107023: the stream is being aborted; the failure's code: its context was stopped by one;
 *   207005: the stream's thread could not be started.
 */
ACLNN_API aclnnStatus aclnnMultilabelMarginLoss(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* MLMARGIN_INCLUDE_ACLNNOP_ACLNN_MULTILABEL_MARGIN_LOSS_H_ */
