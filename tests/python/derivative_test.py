# SPDX-License-Identifier: Apache-2.0
"""First and second derivatives, and what backward keeps."""

import itertools
import unittest
import warnings

import torch
from torch.autograd import forward_ad, grad, gradcheck, gradgradcheck

import exact
import mlmargin

TARGET = torch.tensor([[1, 3, -1, 0, 0], [-1, 0, 0, 0, 0], [0, 1, 2, 3, 4], [2, 2, 4, -1, -1]])
# No two of them differ by about 1, where the loss has no derivative.
SCORES = torch.tensor([[0.11, -0.52, 0.23, 0.94, -1.31], [0.35, 1.06, -0.77, 0.18, 2.29],
                       [1.40, -0.61, 0.82, 0.03, -2.34], [-0.45, 0.76, 0.07, 1.88, -0.19]],
                      dtype=torch.float64)


def scores(*shape):
    return SCORES[:shape[0], :shape[1]].reshape(shape).clone().requires_grad_()


def forms():
    """Functions of scores (4, 5) for each form of labels and each reduction, with their names."""
    batch = exact.Batch(SCORES, [[1, 3], [], [0, 1, 2, 3, 4], [2, 2, 4]])
    for reduction in exact.REDUCTIONS:
        yield f"target, {reduction}", lambda x, r=reduction: mlmargin.multilabel_margin_loss(
            x, TARGET, reduction=r)
        yield f"padded, {reduction}", lambda x, r=reduction: mlmargin.multilabel_margin_loss(
            x, batch.padded(7), reduction=r, padded=True)
        yield f"CSR, {reduction}", lambda x, r=reduction: mlmargin.multilabel_margin_loss_csr(
            x, *batch.csr(torch.int32), reduction=r)


class Derivatives(unittest.TestCase):

    def check(self, function, x):
        self.assertTrue(gradcheck(function, x))
        self.assertTrue(gradgradcheck(function, x))

    def test_batches(self):
        for name, function in forms():
            with self.subTest(name):
                self.check(function, scores(4, 5))

    def test_views(self):
        for name, function in forms():
            with self.subTest(name):
                self.check(function, SCORES.t().contiguous().t().requires_grad_())
                self.check(lambda x, f=function: f(x.expand(4, 5)), scores(1, 5))

    def test_one_row(self):
        labels = torch.tensor([2, 0, 2, -1, 1])
        csr = (torch.tensor([0, 3]), torch.tensor([2, 0, 2]))
        for reduction in exact.REDUCTIONS:
            self.check(lambda x, r=reduction: mlmargin.multilabel_margin_loss(
                x, labels, reduction=r), SCORES[0].clone().requires_grad_())
            self.check(lambda x, r=reduction: mlmargin.multilabel_margin_loss_csr(
                x, *csr, reduction=r), SCORES[0].clone().requires_grad_())

    def test_a_scalar(self):
        for reduction in exact.REDUCTIONS:
            self.check(lambda x, r=reduction: mlmargin.multilabel_margin_loss(
                x, torch.tensor(0), reduction=r), SCORES[0, 0].clone().requires_grad_())

    def test_an_empty_batch(self):
        for reduction in exact.REDUCTIONS:
            x = torch.empty(0, 3, requires_grad=True)
            loss = mlmargin.multilabel_margin_loss(x, torch.empty(0, 3, dtype=torch.int64),
                                                   reduction=reduction)
            loss.sum().backward()
            self.assertEqual(x.grad.shape, (0, 3))

    def test_the_second_derivative_by_the_scores_is_zero(self):
        for name, function in forms():
            with self.subTest(name):
                x = scores(4, 5)
                first, = grad(function(x).sum(), x, create_graph=True)
                second, = grad((first * first).sum(), x)
                self.assertTrue(torch.equal(second, torch.zeros_like(x)))

    def test_the_gradient_is_linear_in_grad_output(self):
        for name, function in forms():
            with self.subTest(name):
                x, direction = scores(4, 5), torch.randn_like(SCORES)
                loss = function(x)
                grad_output = torch.rand_like(loss).requires_grad_()
                first, = grad(loss, x, grad_output, create_graph=True)
                by_grad_output, = grad(first, grad_output, direction, create_graph=True)
                # What is linear is its derivative times the factor.
                self.assertTrue(torch.allclose((by_grad_output * grad_output).sum(),
                                               (first * direction).sum(), rtol=1e-13, atol=0))

    def test_hinges_of_exactly_0_have_no_gradient(self):
        x = torch.tensor([1.0, 0.0], requires_grad=True)
        mlmargin.multilabel_margin_loss(x, torch.tensor([0, -1])).backward()
        self.assertEqual(x.grad.tolist(), [0.0, 0.0])

    def test_forward_mode_is_refused(self):
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(SCORES, torch.ones_like(SCORES))
            for name, function in forms():
                with self.subTest(name), self.assertRaisesRegex(RuntimeError, "forward-mode"):
                    function(dual)

    def test_gradients_add_up(self):
        x = scores(4, 5)
        for _ in range(2):
            mlmargin.multilabel_margin_loss(x, TARGET, reduction="sum").backward()
        once = scores(4, 5)
        mlmargin.multilabel_margin_loss(once, TARGET, reduction="sum").backward()
        self.assertTrue(torch.equal(x.grad, 2 * once.grad))


class OnePass(unittest.TestCase):
    """Forward computes the gradient too, for a gradient by the loss of 1."""

    def gradient(self, x, grad_output, reduction):
        return torch.ops.mlmargin.loss_backward(grad_output, x.detach(), TARGET, reduction, False)

    def test_it_is_what_backward_computes(self):
        for number, reduction in enumerate(("none", "mean", "sum")):
            x = scores(4, 5)
            loss = mlmargin.multilabel_margin_loss(x, TARGET, reduction=reduction)
            loss.sum().backward()
            expected = self.gradient(x, torch.ones_like(loss), number)
            self.assertTrue(torch.equal(x.grad, expected), reduction)

    def test_another_gradient_by_the_loss_is_not_a_product(self):
        x = torch.randn(4, 5, requires_grad=True)
        loss = mlmargin.multilabel_margin_loss(x, TARGET)
        (loss / 3).backward()
        expected = self.gradient(x, torch.tensor(1 / 3), 1)
        self.assertTrue(torch.equal(x.grad, expected))

    def test_one_that_is_one_in_some_rows_only(self):
        x = scores(4, 5)
        grad_output = torch.tensor([1, 1, 0.5, 1], dtype=x.dtype)
        mlmargin.multilabel_margin_loss(x, TARGET, reduction="none").backward(grad_output)
        self.assertTrue(torch.equal(x.grad, self.gradient(x, grad_output, 0)))

    def test_a_jacobian_at_once_is_that_row_by_row(self):
        def losses(x):
            return mlmargin.multilabel_margin_loss(x, TARGET, reduction="none")

        one_by_one = torch.autograd.functional.jacobian(losses, SCORES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # That it is slow.
            at_once = torch.autograd.functional.jacobian(losses, SCORES, vectorize=True)
        self.assertTrue(torch.equal(at_once, one_by_one))

    def test_a_graph_may_be_gone_through_twice(self):
        x = scores(4, 5)
        loss = mlmargin.multilabel_margin_loss(x, TARGET)
        first, = torch.autograd.grad(loss, x, retain_graph=True)
        expected = first.clone()
        first.zero_()
        second, = torch.autograd.grad(loss, x)
        self.assertTrue(torch.equal(second, expected))


class Kept(unittest.TestCase):

    def kept(self, function, x):
        """What is kept for backward."""
        tensors = []

        def keep(tensor):
            tensors.append(tensor)
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            function(x)
        return [tensor.data_ptr() for tensor in tensors]

    def test_of_the_arguments_the_scores_and_the_labels_are_kept(self):
        x = scores(4, 5)
        offsets, indices = exact.Batch(SCORES, [[1], [], [0], [2, 2]]).csr()
        self.assertEqual(
            set(self.kept(lambda x: mlmargin.multilabel_margin_loss(x, TARGET), x)),
            {x.data_ptr(), TARGET.data_ptr()})
        self.assertEqual(
            set(self.kept(lambda x: mlmargin.multilabel_margin_loss_csr(x, offsets, indices), x)),
            {x.data_ptr(), offsets.data_ptr(), indices.data_ptr()})

    def test_a_change_before_backward_is_noticed(self):
        x, target = scores(4, 5), TARGET.clone()
        loss = mlmargin.multilabel_margin_loss(x, target)
        target[0, 0] = 0
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            loss.backward()

    def test_nothing_is_recorded_without_need(self):
        for needs, mode in itertools.product((False, True), (torch.no_grad, torch.inference_mode)):
            with mode():
                loss = mlmargin.multilabel_margin_loss(SCORES.clone().requires_grad_(needs), TARGET)
            self.assertFalse(loss.requires_grad)
        self.assertFalse(mlmargin.multilabel_margin_loss(SCORES, TARGET).requires_grad)


if __name__ == "__main__":
    unittest.main()
