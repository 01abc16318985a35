# SPDX-License-Identifier: Apache-2.0
"""Small inputs behind public reports about this loss in PyTorch, with the values that are right."""

import itertools
import unittest

import torch

import mlmargin

LABEL_TYPES = (torch.int32, torch.int64)


class Reported(unittest.TestCase):

    def check(self, scores, target, reduction, expected, gradient=None):
        """Losses and gradients that float32 holds to the last place given."""
        for label_type in LABEL_TYPES:
            x = torch.tensor(scores, requires_grad=True)
            loss = mlmargin.multilabel_margin_loss(x, torch.tensor(target, dtype=label_type),
                                                   reduction=reduction)
            self.assert_rounded(loss, expected)
            if gradient is not None:
                loss.sum().backward()
                self.assert_rounded(x.grad, gradient)

    def assert_rounded(self, got, expected):
        expected = torch.tensor(expected)
        self.assertEqual(got.shape, expected.shape)
        # Decimal numbers are themselves rounded: 1 ulp for that, 1 for the result.
        difference = (got.detach() - expected).abs()
        self.assertTrue(bool((difference <= 2 * torch.finfo(torch.float32).eps * expected.abs())
                             .all()), (got, expected))

    def check_refused(self, *words, input, target, error=RuntimeError, **keywords):
        with self.assertRaises(error) as raised:
            mlmargin.multilabel_margin_loss(input, target, **keywords)
        for word in words:
            self.assertIn(word, str(raised.exception))


class ValuesAndLists(Reported):

    def test_padding_is_no_label(self):
        """pytorch/pytorch #141017, #185464: padding became class 0 on the compiled path."""
        self.check([[0.75, -0.5, 0.25, 0.0, -1.0]], [[1, 3, -1, -1, -1]], "mean", 1.5,
                   [[0.4, -0.6, 0.4, -0.4, 0.2]])

    def test_0_is_a_class_like_others(self):
        """pytorch/pytorch #2547, #3796: the text once said to pad with 0."""
        scores = [[2.0, -1.0, 0.5, 0.0]]
        self.check(scores, [[1, -1, -1, -1]], "none", [2.125])
        self.check(scores, [[1, 0, 0, 0]], "none", [1.125])

    def test_the_hinge_is_of_the_difference(self):
        """The formula of the vendor's page has both scores subtracted."""
        self.check([[0.5, -0.25, 1.0, 0.0]], [[2, -1, -1, -1]], "none", [0.125])

    def test_a_label_listed_twice_counts_twice(self):
        """Readers of the page disagreed whether labels are a set."""
        self.check([[0.5, -0.25, 1.0, 0.0]], [[2, 2, -1, -1]], "none", [0.25],
                   [[0.5, 0.0, -0.5, 0.0]])

    def test_a_list_that_begins_with_minus_1_is_empty(self):
        """pytorch/pytorch #62087, #75885."""
        self.check([[3.0, -2.0, 7.0]], [[-1, 0, 2]], "none", [0.0], [[0.0, 0.0, 0.0]])

    def test_rows_whose_classes_are_all_labels(self):
        """Dividing by the number of the other classes gave nan."""
        self.check([[5.0, 1.0, 2.0]], [[2, 0, 1]], "none", [0.0], [[0.0, 0.0, 0.0]])
        self.check([[0.3], [0.3]], [[0], [-1]], "none", [0.0, 0.0], [[0.0], [0.0]])

    def test_a_full_row_beside_another(self):
        """The example of mindspore.ops.MultilabelMarginLoss."""
        self.check([[0.1, 0.2, 0.4, 0.8], [0.2, 0.3, 0.5, 0.7]], [[1, 2, 0, 3], [2, 3, -1, 1]],
                   "mean", 0.325)

    def test_the_order_of_labels_does_not_matter(self):
        """PyTorch's own inputs permute lists."""
        for labels in ([4, 0, 2, -1, -1], [2, 4, 0, -1, -1]):
            self.check([[0.1, 0.2, 0.4, 0.8, -0.3]], [labels], "none", [1.72],
                       [[-0.4, 0.6, -0.4, 0.6, -0.4]])

    def test_half_types_do_not_get_stuck_while_they_add(self):
        """A bfloat16 sum stops at 16 when each addition is rounded."""
        expected = {torch.bfloat16: (0.05078125, 50.75), torch.float16: (0.050048828125, 50.0625)}
        target = torch.tensor([[0, -1]]).expand(1000, 2)
        for dtype, (mean, total) in expected.items():
            scores = torch.tensor([[0.0, -0.9]], dtype=dtype).expand(1000, 2)
            loss = mlmargin.multilabel_margin_loss
            self.assertEqual(loss(scores, target).item(), mean)
            self.assertEqual(loss(scores, target, reduction="sum").item(), total)

    def test_large_equal_scores(self):
        """PyTorch forms 1 - a + b in float32, which gives 1."""
        self.check([[16777218.0, 16777218.0]], [[0, -1]], "none", [0.5])


class Shapes(Reported):

    def test_a_row_without_batch_gives_a_scalar(self):
        """pytorch/pytorch #30748: `none` gave a vector of one element."""
        for reduction in ("none", "mean", "sum"):
            self.check([0.25, 0.5, -0.5], [1, -1, -1], reduction, 0.25)

    def test_no_classes(self):
        """Never a division by zero."""
        for shape in ((3, 0), (0, 0), (0,)):
            self.check_refused("no classes", str(list(shape)), input=torch.zeros(shape),
                               target=torch.zeros(shape, dtype=torch.int64))

    def test_three_dimensions(self):
        """pytorch/pytorch #106011: the message spoke of emptiness."""
        self.check_refused("3 dimensions", "0, 1 or 2", input=torch.tensor([[[0.1, 0.2]]]),
                           target=torch.tensor([[[0, -1]]]))

    def test_shapes_that_differ(self):
        """pytorch/pytorch #106251, #137264, #174072: both shapes are named, none is broadcast."""
        for shape, labels in (((2, 3), (2, 2)), ((1, 3), (3,)), ((3,), (1, 3))):
            self.check_refused(str(list(shape)), str(list(labels)), input=torch.zeros(shape),
                               target=torch.zeros(labels, dtype=torch.int64))

    def test_expanded_rows(self):
        """Strides of 0."""
        scores = torch.tensor([[0.5, 0.25, -0.5]]).expand(3, 3)
        target = torch.tensor([[0, -1, -1]]).expand(3, 3)
        loss = mlmargin.multilabel_margin_loss(scores, target, reduction="none")
        self.assertEqual(loss.tolist(), [0.25, 0.25, 0.25])

    def test_shapes_on_meta(self):
        """pytorch/pytorch #104388, #105559: there was no meta kernel."""
        for shape, reduction in itertools.product(((2, 3), (3,), ()), ("none", "mean", "sum")):
            target = torch.zeros(shape, dtype=torch.int64, device="meta")
            scores = torch.zeros(shape, device="meta", requires_grad=True)
            loss = mlmargin.multilabel_margin_loss(scores, target, reduction=reduction)
            expected = (2,) if reduction == "none" and len(shape) == 2 else ()
            self.assertEqual((loss.device.type, tuple(loss.shape)), ("meta", expected))
            loss.sum().backward()
            self.assertEqual((scores.grad.device.type, tuple(scores.grad.shape)), ("meta", shape))


class Labels(Reported):

    def test_a_label_out_of_range(self):
        """pytorch/pytorch #73176, #77952, #89408, #99410: a number, and another the next time."""
        for _ in range(2):
            self.check_refused("is out of range", "row 0", "label 2", input=torch.zeros(1, 2),
                               target=torch.tensor([[2, -1]]), reduction="none")

    def test_int32_labels(self):
        """Stock CPU code wants int64, others give int32."""
        self.check([[0.75, -0.5, 0.25, 0.0, -1.0]], [[1, 3, -1, -1, -1]], "sum", 1.5)

    def test_float_labels(self):
        """No silent cast."""
        self.check_refused("target", "Int or Long", "Float", input=torch.zeros(1, 2),
                           target=torch.tensor([[0.0, -1.0]]))


if __name__ == "__main__":
    unittest.main()
