# SPDX-License-Identifier: Apache-2.0
"""Small inputs behind public reports about this loss, with the values that are right.

Each test names its source. The values are exact rationals; where PyTorch 1.13 takes the input, a
test asks it in float64 too, unless the report is about PyTorch's own rounding.
"""

import unittest

import numpy as np
import torch

import acl
import oracle

NONE, MEAN, SUM = 0, 1, 2
TYPES = {acl.FLOAT: oracle.FLOAT32, acl.FLOAT16: oracle.FLOAT16, acl.BF16: oracle.BFLOAT16}
PARAM_INVALID = 161002

session = None


def setUpModule():
    global session
    session = acl.Session().__enter__()


def tearDownModule():
    session.__exit__()


def scores_view(values, dtype=acl.FLOAT):
    return acl.contiguous(dtype, oracle.narrow(TYPES[dtype], values))


def empty(dtype, shape):
    """An output full of nan."""
    return acl.contiguous(dtype, np.full(shape, np.iinfo(acl.ELEMENT[dtype]).max))


class ReportedCase(unittest.TestCase):

    def run_views(self, self_view, target, reduction, out_shape=None):
        """The losses as a list, and the mask."""
        if out_shape is None:
            batched = len(self_view.shape) == 2
            out_shape = [self_view.shape[0]] if reduction == NONE and batched else []
        out = empty(self_view.dtype, out_shape)
        mask = empty(self_view.dtype, target.shape)
        session.multilabel_margin_loss(self_view, target, reduction, out, mask)
        dtype = TYPES[self_view.dtype]
        return (oracle.widen(dtype, out.elements()).reshape(-1).tolist(),
                oracle.widen(dtype, mask.elements()).tolist())

    def check(self, scores, target, reduction, losses, mask=None, ask_torch=True):
        """float32 scores with int64 and int32 labels; losses are rounded to float32 here."""
        expected = np.array(losses, dtype=np.float32).tolist()
        for label_type in (acl.INT64, acl.INT32):
            got, flags = self.run_views(scores_view(scores), acl.contiguous(label_type, target),
                                        reduction)
            self.assertEqual(got, expected)
            if mask is not None:
                self.assertEqual(flags, np.array(mask, dtype=float).tolist())
        if ask_torch:
            name = {NONE: "none", MEAN: "mean", SUM: "sum"}[reduction]
            theirs = torch.nn.functional.multilabel_margin_loss(
                torch.tensor(np.float32(scores).astype(np.float64)), torch.tensor(target),
                reduction=name)
            np.testing.assert_allclose(theirs.reshape(-1).numpy(), losses, rtol=1e-6)

    def check_refused(self, self_view, target, *words, out_shape=(1,), reduction=MEAN, mask=None):
        """161002, with the words in the message; acl.Session checks that no executor is left."""
        out, mask = empty(acl.FLOAT, list(out_shape)), mask or empty(acl.FLOAT, target.shape)
        with self.assertRaises(acl.Error) as raised:
            session.multilabel_margin_loss(self_view, target, reduction, out, mask)
        self.assertEqual(raised.exception.status, PARAM_INVALID)
        for word in words:
            self.assertIn(word, raised.exception.text)


class ValuesAndLists(ReportedCase):

    def test_padding_is_not_class_0(self):
        """pytorch/pytorch #141017, #185464"""
        scores, target = [[0.75, -0.5, 0.25, 0, -1]], [[1, 3, -1, -1, -1]]
        self.check(scores, target, MEAN, [1.5], [[0, 1, 0, 1, 0]])

    def test_padding_with_0_means_class_0(self):
        """pytorch/pytorch #2547, #3796"""
        scores = [[2, -1, 0.5, 0]]
        self.check(scores, [[1, -1, -1, -1]], NONE, [2.125], [[0, 1, 0, 0]])
        self.check(scores, [[1, 0, 0, 0]], NONE, [1.125], [[1, 1, 0, 0]])

    def test_the_difference_of_scores_counts(self):
        """The operator's API page prints 1 - x[j] - x[i], which would give 0.0625."""
        self.check([[0.5, -0.25, 1, 0]], [[2, -1, -1, -1]], NONE, [0.125], [[0, 0, 1, 0]])

    def test_a_repeated_label_counts_twice_in_the_loss_and_once_in_the_mask(self):
        """hiascend.com, Atlas 200I DK A2 page 03_0461; hicann/ops-nn README"""
        self.check([[0.5, -0.25, 1, 0]], [[2, 2, -1, -1]], NONE, [0.25], [[0, 0, 1, 0]])

    def test_a_row_that_starts_with_minus_1_has_no_labels(self):
        """pytorch/pytorch #62087, #75885"""
        self.check([[3, -2, 7]], [[-1, 0, 2]], NONE, [0], [[0, 0, 0]])

    def test_all_classes_are_labels(self):
        """mindspore.ops.MultilabelMarginLoss, first row of the example"""
        self.check([[5, 1, 2]], [[2, 0, 1]], NONE, [0], [[1, 1, 1]])

    def test_one_class(self):
        """mindspore.ops.MultilabelMarginLoss"""
        self.check([[0.3], [0.3]], [[0], [-1]], NONE, [0, 0], [[1], [0]])

    def test_mindspore_example(self):
        """mindspore.cn r2.0 page of ops.MultilabelMarginLoss; Ascend/pytorch for int32 labels"""
        scores = [[0.1, 0.2, 0.4, 0.8], [0.2, 0.3, 0.5, 0.7]]
        target = [[1, 2, 0, 3], [2, 3, -1, 1]]
        for label_type in (acl.INT32, acl.INT64):
            losses, mask = self.run_views(scores_view(scores), acl.contiguous(label_type, target),
                                          MEAN)
            self.assertAlmostEqual(losses[0], 0.325, delta=2.0 ** -24)
            self.assertEqual(mask, [[1, 1, 1, 1], [0, 0, 1, 1]])

    def test_is_not_the_soft_margin_loss(self):
        """PaddlePaddle/docs #6058, #7331"""
        scores, target = [[0.5, -0.25, 1, 0]], [[2, -1, -1, -1]]
        self.check(scores, target, NONE, [0.125])
        soft = torch.nn.functional.multilabel_soft_margin_loss(
            torch.tensor(scores), torch.tensor([[0.0, 0, 1, 0]]))
        self.assertAlmostEqual(soft.item(), 0.6391063, 6)


class RanksAndShapes(ReportedCase):

    def test_one_row_gives_one_element_of_rank_0_or_1(self):
        """pytorch/pytorch #30748, #30768"""
        scores, target = scores_view([0.25, 0.5, -0.5]), acl.contiguous(acl.INT64, [1, -1, -1])
        for reduction in (NONE, MEAN, SUM):
            for shape in ([], [1]):
                losses, mask = self.run_views(scores, target, reduction, shape)
                self.assertEqual((losses, mask), ([0.25], [0, 1, 0]))
            self.check_refused(scores, target, "out", out_shape=[3], reduction=reduction)

    def test_no_classes(self):
        """hicann/ops-nn README; PyTorch OpInfo error inputs"""
        for shape in ([3, 0], [0, 0], [0]):
            self.check_refused(empty(acl.FLOAT, shape), empty(acl.INT64, shape), "self")

    def test_three_dimensions(self):
        """pytorch/pytorch #106011: the message must be about the rank, not about emptiness."""
        self.check_refused(scores_view([[[0.1, 0.2]]]), acl.contiguous(acl.INT64, [[[0, -1]]]),
                           "self", "3")

    def test_three_dimensions_with_a_two_dimensional_target(self):
        """hicann/ops-nn: the last axis was dropped without a word."""
        self.check_refused(empty(acl.FLOAT, [4, 5, 6]), empty(acl.INT64, [4, 5]), "self")

    def test_no_broadcasting(self):
        """pytorch/pytorch #106251, #137264, #174072, #105645"""
        for shape, target_shape in (([2, 3], [2, 2]), ([1, 3], [3]), ([3], [1, 3])):
            sizes = [str(size) for size in shape + target_shape]
            self.check_refused(empty(acl.FLOAT, shape), empty(acl.INT64, target_shape), "target",
                               *sizes)

    def test_empty_batch(self):
        """sum 0, mean nan, and none writes nothing"""
        scores, target = empty(acl.FLOAT, [0, 3]), empty(acl.INT64, [0, 3])
        self.assertEqual(self.run_views(scores, target, NONE), ([], []))
        self.assertEqual(self.run_views(scores, target, SUM)[0], [0])
        self.assertTrue(np.isnan(self.run_views(scores, target, MEAN)[0][0]))


class RangeAndTypes(ReportedCase):

    def test_labels_out_of_range_are_skipped(self):
        """The sample on the operator's page passes the labels 3, 4, 5 with three classes."""
        self.check([[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [3, 4, 5]], NONE, [0, 0],
                   [[1, 1, 1], [0, 0, 0]], ask_torch=False)

    def test_float_labels_are_refused(self):
        """hicann/ops-nn unit tests"""
        self.check_refused(scores_view([[1, 2]]), acl.contiguous(acl.FLOAT, [[0, 1]]), "target")

    def test_an_integer_mask_is_refused(self):
        """hicann/ops-nn unit tests"""
        self.check_refused(scores_view([[1, 2]]), acl.contiguous(acl.INT32, [[0, -1]]), "isTarget",
                           mask=empty(acl.INT32, [1, 2]))


class HalfTypes(ReportedCase):

    def test_a_thousand_rows_do_not_saturate(self):
        """hicann/ops-nn golden.py, low precision notes: a bfloat16 sum stuck at 16."""
        scores, target = np.tile([0, -0.9], (1000, 1)), np.tile([0, -1], (1000, 1))
        for dtype, reduction, loss in ((acl.BF16, MEAN, 0.05078125), (acl.BF16, SUM, 50.75),
                                       (acl.FLOAT16, MEAN, 0.050048828125),
                                       (acl.FLOAT16, SUM, 50.0625)):
            losses, _ = self.run_views(scores_view(scores, dtype),
                                       acl.contiguous(acl.INT64, target), reduction)
            self.assertEqual(losses, [loss])

    def test_equal_large_scores_keep_the_margin(self):
        """pytorch/pytorch LossMultiLabelMargin.cpp: float32 hinges give 1.0"""
        self.check([[16777218, 16777218]], [[0, -1]], NONE, [0.5])

    def test_scores_that_cancel(self):
        """1 - 100.3 + 99.4 in float32: hundreds of ulp off when formed left to right"""
        scores = np.float32([[100.3, 99.4]])
        exact = (1 - float(scores[0, 0]) + float(scores[0, 1])) / 2
        self.check(scores.tolist(), [[0, -1]], NONE, [exact])


class Views(ReportedCase):

    def test_expanded_inputs(self):
        """hiascend.com and cann/ops-math page on non-contiguous tensors"""
        scores = acl.View(acl.FLOAT, [3, 3], scores_view([0.5, 0.25, -0.5]).storage, [0, 1])
        target = acl.View(acl.INT64, [3, 3], np.array([0, -1, -1]), [0, 1])
        losses, mask = self.run_views(scores, target, NONE)
        self.assertEqual(losses, [0.25] * 3)
        self.assertEqual(mask, [[1, 0, 0]] * 3)

    def test_null_strides_mean_contiguous(self):
        """aclSetAclOpExecutorRepeatable's example"""
        strided = acl.View(acl.FLOAT, [2, 2], scores_view([0, 1, 2, 3]).storage, [2, 1])
        null = acl.View(acl.FLOAT, [2, 2], strided.storage)
        target = acl.contiguous(acl.INT64, [[0, -1], [1, -1]])
        self.assertEqual(self.run_views(null, target, NONE), self.run_views(strided, target, NONE))

    def test_negative_dims_strides_and_offsets_give_no_tensor(self):
        storage = scores_view([0, 1, 2, 3]).storage
        for view in (acl.View(acl.FLOAT, [2, -2], storage),
                     acl.View(acl.FLOAT, [2, 2], storage, [-2, 1]),
                     acl.View(acl.FLOAT, [2, 2], storage, [2, 1], -1)):
            self.assertIsNone(session.create_tensor(view, None))


class Memory(ReportedCase):

    def test_old_bytes_in_outputs_and_workspace_do_not_matter(self):
        """Huawei note EDOC1100206685; acl.Session fills the workspace with nan."""
        scores = scores_view([[0.1, 0.2, 0.4, 0.8], [0.2, 0.3, 0.5, 0.7]])
        target = acl.contiguous(acl.INT32, [[1, 2, 0, 3], [2, 3, -1, 1]])
        out = acl.contiguous(acl.FLOAT, np.full([], 0xFFFFFFFF))
        mask = acl.contiguous(acl.FLOAT, np.full([2, 4], 0xFFFFFFFF))
        session.multilabel_margin_loss(scores, target, MEAN, out, mask)
        self.assertAlmostEqual(float(oracle.widen(oracle.FLOAT32, out.storage)[0]), 0.325,
                               delta=2.0 ** -24)
        self.assertEqual(oracle.widen(oracle.FLOAT32, mask.elements()).tolist(),
                         [[1, 1, 1, 1], [0, 0, 1, 1]])


if __name__ == "__main__":
    unittest.main()
