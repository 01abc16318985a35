# SPDX-License-Identifier: Apache-2.0
"""Values and gradients against exact arithmetic and against PyTorch's own."""

import itertools
import unittest
import warnings
from fractions import Fraction

import numpy
import torch

import exact
import mlmargin

SHAPES = ((1, 1, 1), (2, 3, 3), (3, 8, 4), (4, 5, 7), (2, 17, 5))


def loss_and_gradient(function, scores, *arguments, grad_output=None, **keywords):
    scores = scores.detach().requires_grad_()
    loss = function(scores, *arguments, **keywords)
    loss.backward(torch.ones_like(loss) if grad_output is None else grad_output)
    return loss.detach(), scores.grad


class ExactValues(unittest.TestCase):

    def check_loss(self, batch, reduction):
        dtype = batch.scores.dtype
        got = mlmargin.multilabel_margin_loss(batch.scores, batch.padded(), reduction=reduction,
                                              padded=True)
        for value, expected in zip(got.reshape(-1).tolist(), exact.loss(batch, reduction)):
            self.assertLessEqual(exact.ulps(value, expected, dtype), 1, (batch, value, expected))

    def test_losses_are_within_an_ulp_of_the_exact_ones(self):
        rng = exact.seeded("losses")
        for dtype, shape, reduction in itertools.product(exact.TYPES, SHAPES, exact.REDUCTIONS):
            for grid in (None, 4):
                with self.subTest(dtype=dtype, shape=shape, reduction=reduction, grid=grid):
                    self.check_loss(exact.random_batch(rng, *shape, dtype, grid), reduction)

    def test_a_near_cancellation_is_as_exact(self):
        for dtype in exact.TYPES:
            scores = torch.tensor([[100.3, 99.4, -3.0]], dtype=dtype)
            self.check_loss(exact.Batch(scores, [[0, 2]]), "none")

    def check_counts(self, batch, reduction):
        # The gradient of the loss, times C (and N for the mean), is a count: whole numbers.
        rows, classes = batch.scores.shape
        unit = classes * rows if reduction == "mean" else classes
        shape = (rows,) if reduction == "none" else ()
        grad_output = torch.full(shape, unit, dtype=batch.scores.dtype)
        _, gradient = loss_and_gradient(mlmargin.multilabel_margin_loss, batch.scores,
                                        batch.padded(), reduction=reduction, padded=True,
                                        grad_output=grad_output)
        self.assertEqual(gradient.tolist(), exact.counts(batch), batch)

    def test_gradients_are_the_exact_counts_in_thousands_of_small_batches(self):
        rng = exact.seeded("counts")
        for case in range(4000):
            shape = (rng.choice((1, 2, 4)), rng.randint(1, 12), rng.randint(0, 6))
            dtype = exact.TYPES[case % 4]
            batch = exact.random_batch(rng, *shape, dtype, grid=rng.choice((1, 2, 4, None)))
            self.check_counts(batch, exact.REDUCTIONS[case % 3])

    def test_gradients_are_the_exact_counts_for_many_classes_and_labels(self):
        rng = exact.seeded("many")
        for dtype, classes, labels in itertools.product(
                exact.TYPES, (64, 128, 256), (1, 40, 70)):
            batch = exact.random_batch(rng, 2, classes, labels, dtype, grid=4)
            with self.subTest(dtype=dtype, classes=classes, labels=labels):
                self.check_counts(batch, "none")

    def test_gradients_are_within_an_ulp_for_any_grad_output(self):
        rng = exact.seeded("grad_output")
        for dtype, shape in itertools.product(exact.TYPES, SHAPES):
            batch = exact.random_batch(rng, *shape, dtype)
            grad_output = torch.tensor([rng.gauss(0, 1) for _ in range(shape[0])]).to(dtype)
            _, gradient = loss_and_gradient(mlmargin.multilabel_margin_loss, batch.scores,
                                            batch.padded(), reduction="none", padded=True,
                                            grad_output=grad_output)
            for row, factor, counts in zip(gradient.tolist(), grad_output.tolist(),
                                           exact.counts(batch)):
                for value, count in zip(row, counts):
                    expected = Fraction(factor) * count / shape[1]
                    self.assertLessEqual(exact.ulps(value, expected, dtype), 1)


class PyTorchsValues(unittest.TestCase):

    def check(self, batch, reduction):
        """Ours in the type at hand against PyTorch's in float64, for the scores as stored."""
        dtype = batch.scores.dtype
        loss, gradient = loss_and_gradient(mlmargin.multilabel_margin_loss, batch.scores,
                                           batch.target(), reduction=reduction)
        theirs, their_gradient = loss_and_gradient(
            torch.nn.functional.multilabel_margin_loss, batch.scores.double(), batch.target(),
            reduction=reduction)
        # Theirs rounds twice for a hinge and once for each sum; hinges here are below 16, there are
        # fewer than 200, and the sums end up below 64: 200 * (2 * 16 + 64) roundings of 2^-53.
        bound = 200 * 96 * 2.0**-53
        self.check_close(loss, theirs, dtype, bound)
        # At most 200 roundings of partial sums below 64.
        self.check_close(gradient, their_gradient, dtype, bound)

    def check_close(self, ours, theirs, dtype, their_bound):
        self.assertEqual(ours.dtype, dtype)
        self.assertEqual(ours.shape, theirs.shape)
        info = torch.finfo(dtype)
        for value, expected in zip(ours.reshape(-1).tolist(), theirs.reshape(-1).tolist()):
            ulp = info.eps * max(abs(expected), info.tiny)
            self.assertLessEqual(abs(value - expected), ulp + their_bound)

    def test_losses_and_gradients_are_pytorchs(self):
        rng = exact.seeded("PyTorch")
        shapes = ((1, 1, 1), (3, 5, 4), (4, 20, 6), (2, 50, 3))
        for dtype, shape, reduction in itertools.product(exact.TYPES, shapes, exact.REDUCTIONS):
            rows, classes, labels = shape
            batch = exact.random_batch(rng, rows, classes, min(labels, classes), dtype)
            with self.subTest(dtype=dtype, shape=shape, reduction=reduction):
                self.check(batch, reduction)


class OneLossManyForms(unittest.TestCase):
    """The forms in which labels may come give the same bits."""

    def setUp(self):
        rng = exact.seeded("forms")
        self.batches = [exact.random_batch(rng, *shape, dtype)
                        for dtype in exact.TYPES for shape in ((3, 9, 5), (2, 70, 60))]

    def check_same(self, ours, other):
        for a, b in zip(ours, other):
            self.assertTrue(exact.same_bits(a, b), (a, b))

    def test_int32_labels_are_int64_labels(self):
        for batch, reduction in itertools.product(self.batches, exact.REDUCTIONS):
            self.check_same(*(
                loss_and_gradient(mlmargin.multilabel_margin_loss, batch.scores, batch.target(t),
                                  reduction=reduction) for t in (torch.int32, torch.int64)))

    def test_lists_may_be_of_any_length(self):
        for batch, reduction in itertools.product(self.batches, exact.REDUCTIONS):
            same_shape = loss_and_gradient(mlmargin.multilabel_margin_loss, batch.scores,
                                           batch.target(), reduction=reduction)
            for columns in (None, batch.scores.shape[1] + 4):
                self.check_same(same_shape, loss_and_gradient(
                    mlmargin.multilabel_margin_loss, batch.scores, batch.padded(columns),
                    reduction=reduction, padded=True))

    def test_more_labels_than_classes(self):
        batch = exact.Batch(torch.tensor([[0.5, -0.25]]), [[1, 1, 1, 1, 1]])
        loss = mlmargin.multilabel_margin_loss(batch.scores, batch.padded(), reduction="none",
                                               padded=True)
        self.assertEqual(loss.tolist(), [5 * 1.75 / 2])

    def test_no_columns_at_all(self):
        for shape, labels in (((2, 3), (2, 0)), ((3,), (0,))):
            loss, gradient = loss_and_gradient(
                mlmargin.multilabel_margin_loss, torch.ones(shape),
                torch.empty(labels, dtype=torch.int64), reduction="sum", padded=True)
            self.assertEqual(loss.item(), 0)
            self.assertTrue(torch.equal(gradient, torch.zeros(shape)))

    def test_csr_without_rows_or_labels(self):
        none = torch.empty(0, dtype=torch.int64)
        for rows in (0, 2):
            offsets = torch.zeros(rows + 1, dtype=torch.int64)
            for reduction in exact.REDUCTIONS:
                loss, gradient = loss_and_gradient(
                    mlmargin.multilabel_margin_loss_csr, torch.ones(rows, 3), offsets, none,
                    reduction=reduction)
                self.assertTrue(torch.equal(gradient, torch.zeros(rows, 3)))
                if reduction == "mean" and rows == 0:
                    self.assertTrue(loss.isnan())
                else:
                    self.assertTrue(torch.equal(loss, torch.zeros_like(loss)))

    def test_csr_arrays_that_pytorch_has_no_tensors_of(self):
        offsets, indices = numpy.array([0, 2, 3]), numpy.array([2, 0, 1])
        expected = mlmargin.multilabel_margin_loss_csr(torch.eye(2, 3), offsets, indices)
        backwards = indices[::-1].copy()[::-1]
        read_only = indices.copy()
        read_only.flags.writeable = False
        for array in (backwards, read_only):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                loss = mlmargin.multilabel_margin_loss_csr(torch.eye(2, 3), offsets, array)
            self.assertTrue(torch.equal(loss, expected))

    def test_csr_is_padded_bit_for_bit(self):
        types = (torch.int32, torch.int64)
        for batch, reduction in itertools.product(self.batches, exact.REDUCTIONS):
            padded = loss_and_gradient(mlmargin.multilabel_margin_loss, batch.scores,
                                       batch.padded(), reduction=reduction, padded=True)
            for offset_type, index_type in itertools.product(types, types):
                self.check_same(padded, loss_and_gradient(
                    mlmargin.multilabel_margin_loss_csr, batch.scores,
                    *batch.csr(offset_type, index_type), reduction=reduction))

    def test_strides_do_not_matter(self):
        for batch in self.batches:
            rows, classes = batch.scores.shape
            target = batch.target()
            wide = torch.full((2 * rows, 3 * classes), float("nan"), dtype=batch.scores.dtype)
            wide[::2, ::3] = batch.scores
            views = ((batch.scores.t().contiguous().t(), target),
                     (wide[::2, ::3], target.t().contiguous().t()),
                     (batch.scores, target.repeat_interleave(2, 1)[:, ::2]))
            expected = loss_and_gradient(mlmargin.multilabel_margin_loss, batch.scores, target)
            for scores, labels in views:
                self.check_same(expected, loss_and_gradient(mlmargin.multilabel_margin_loss, scores,
                                                            labels))

    def test_strides_of_grad_output_do_not_matter(self):
        for batch in self.batches:
            rows, target = len(batch.scores), batch.target()
            factors = torch.linspace(1, 2, rows).to(batch.scores.dtype)
            stepped = torch.full((3 * rows,), float("nan"), dtype=batch.scores.dtype)
            stepped[::3] = factors
            for view in (stepped[::3], factors[:1].expand(rows)):
                results = [loss_and_gradient(mlmargin.multilabel_margin_loss, batch.scores, target,
                                             reduction="none", grad_output=grad_output)
                           for grad_output in (view, view.contiguous())]
                self.check_same(*results)


if __name__ == "__main__":
    unittest.main()
