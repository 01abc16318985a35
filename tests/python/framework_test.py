# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's users expect besides numbers: signatures, ranks, types, devices, autocast."""

import inspect
import itertools
import re
import unittest
import warnings
from pathlib import Path

import numpy
import scipy.sparse
import torch

import exact
import mlmargin

REPOSITORY = Path(__file__).resolve().parents[2]


def long(values):
    return torch.tensor(values, dtype=torch.int64)


class Published(unittest.TestCase):
    """What PyTorch's documentation says of MultiLabelMarginLoss, without its numbers."""

    def values(self, scores, target):
        return {reduction: mlmargin.multilabel_margin_loss(
            torch.tensor(scores), target, reduction=reduction).tolist()
            for reduction in exact.REDUCTIONS}

    def test_a_batch(self):
        # Row 0: labels 0 and 2; hinges 0.5 and 1.25 with class 1. Row 1: no label.
        self.assertEqual(self.values([[1.0, 0.5, 0.25], [1.0, 2.0, 3.0]],
                                     long([[0, 2, -1], [-1, 1, 2]])),
                         {"none": torch.tensor([1.75 / 3, 0.0]).tolist(),
                          "mean": torch.tensor(1.75 / 6).item(),
                          "sum": torch.tensor(1.75 / 3).item()})

    def test_a_row(self):
        self.assertEqual(self.values([1.0, 0.5, 0.25, 0.0], long([0, 2, -1, 3])),
                         dict.fromkeys(exact.REDUCTIONS, (0.5 + 0.0 + 1.25 + 0.75) / 4))

    def test_a_scalar(self):
        for label in (0, -1):
            self.assertEqual(self.values(2.5, long(label)), dict.fromkeys(exact.REDUCTIONS, 0.0))

    def test_a_scalar_and_one_element_go_together(self):
        for scores, target in ((torch.tensor(0.5), long([0])), (torch.tensor([0.5]), long(0))):
            loss = mlmargin.multilabel_margin_loss(scores, target, reduction="none")
            self.assertEqual((loss.shape, loss.item()), ((), 0.0))

    def test_an_empty_batch(self):
        values = self.values(numpy.empty((0, 3), dtype=numpy.float32), long([]).reshape(0, 3))
        self.assertEqual((values["none"], values["sum"]), ([], 0.0))
        self.assertNotEqual(values["mean"], values["mean"])

    def test_labels_after_the_first_minus_1_are_not_read(self):
        self.assertEqual(self.values([[1.0, 0.0]], long([[-1, 2**40]]))["sum"], 0.0)


class Interface(unittest.TestCase):

    def test_signatures_begin_with_pytorchs(self):
        for ours, theirs in ((mlmargin.multilabel_margin_loss,
                              torch.nn.functional.multilabel_margin_loss),
                             (mlmargin.MultiLabelMarginLoss, torch.nn.MultiLabelMarginLoss)):
            mine, stock = (list(inspect.signature(f).parameters.values()) for f in (ours, theirs))
            for a, b in zip(mine, stock):
                self.assertEqual((a.name, a.default), (b.name, b.default))
            self.assertEqual([p.kind for p in mine[len(stock):]],
                             [inspect.Parameter.KEYWORD_ONLY])

    def test_the_deprecated_arguments_choose_as_in_pytorch(self):
        x, t = torch.tensor([[0.5, 1.0], [2.0, 0.25]]), long([[0, -1], [1, -1]])
        for size_average, reduce in itertools.product((None, False, True), repeat=2):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours, theirs = (f(x, t, size_average, reduce) for f in (
                    mlmargin.multilabel_margin_loss, torch.nn.functional.multilabel_margin_loss))
                module = mlmargin.MultiLabelMarginLoss(size_average, reduce)
            self.assertTrue(torch.equal(ours, theirs), (size_average, reduce))
            self.assertTrue(torch.equal(module(x, t), theirs), (size_average, reduce))
        with self.assertWarnsRegex(UserWarning, "reduction='sum'"):
            mlmargin.multilabel_margin_loss(x, t, size_average=False)

    def test_the_reduction_may_come_third(self):
        x, t = torch.tensor([[0.5, 1.0]]), long([[0, -1]])
        self.assertEqual(mlmargin.multilabel_margin_loss(x, t, "none").shape, (1,))
        self.assertEqual(mlmargin.MultiLabelMarginLoss("sum").reduction, "sum")

    def test_an_unknown_reduction(self):
        for call in (lambda: mlmargin.multilabel_margin_loss(torch.ones(2), long([0, -1]), "avg"),
                     lambda: mlmargin.multilabel_margin_loss_csr(torch.ones(2), long([0, 0]),
                                                                 long([]), "avg"),
                     lambda: mlmargin.MultiLabelMarginLoss(reduction="avg")):
            with self.assertRaisesRegex(ValueError, "reduction: expected .* got 'avg'"):
                call()

    def test_the_module_is_pytorchs_kind(self):
        module = mlmargin.MultiLabelMarginLoss(reduction="sum", padded=True)
        self.assertIsInstance(module, torch.nn.MultiLabelMarginLoss)
        self.assertEqual(module(torch.tensor([[0.5, 1.0, 0.0]]), long([[0]])).item(),
                         torch.tensor((1.5 + 0.5) / 3).item())

    def test_the_version_is_the_headers(self):
        header = (REPOSITORY / "include/mlmargin/version.h").read_text(encoding="utf-8")
        numbers = re.findall(r"#define MLMARGIN_VERSION_[A-Z]+ (\d+)", header)
        self.assertEqual(mlmargin.__version__, ".".join(numbers))


class Refusals(unittest.TestCase):

    def check(self, pattern, *arguments, function=mlmargin.multilabel_margin_loss,
              error=RuntimeError, **keywords):
        with self.assertRaisesRegex(error, pattern):
            function(*arguments, **keywords)

    def test_types(self):
        self.check("input: expected scalar type Float.* found Int", torch.ones(2).int(),
                   long([0, -1]))
        self.check("input: expected .* ComplexFloat", torch.ones(2, dtype=torch.complex64),
                   long([0, -1]))
        for dtype, name in ((torch.int16, "Short"), (torch.bool, "Bool"), (torch.half, "Half")):
            self.check(f"target: expected scalar type Int or Long but found {name}", torch.ones(2),
                       torch.zeros(2, dtype=dtype))

    def test_what_is_no_tensor(self):
        scores, labels = torch.ones(2, 3), long([[0, -1, -1], [1, -1, -1]])
        matrix = scipy.sparse.csr_matrix(([1, 1], ([0, 1], [0, 1])), (2, 3))
        self.check("input must be a Tensor, got list; torch.tensor makes one", [1.0], long([0]),
                   error=TypeError)
        self.check("input must be a Tensor, got numpy.ndarray; torch.from_numpy", scores.numpy(),
                   labels, error=TypeError)
        self.check("target must be a Tensor, got numpy.ndarray; torch.from_numpy", scores,
                   labels.numpy(), error=TypeError)
        self.check(r"target must be a Tensor, got scipy.csr_matrix; multilabel_margin_loss_csr\(input,"
                   r" matrix.indptr, matrix.indices\)", scores, matrix, error=TypeError)
        for form in matrix.tocsc(), matrix.tocoo(), matrix.tolil():
            self.check(r"got scipy\.\w+; .*CSR form, which matrix.tocsr\(\) makes", scores, form,
                       error=TypeError)
        self.check("input must be a Tensor, got scipy.csr_matrix; scores are dense", matrix, labels,
                   error=TypeError)
        self.check("target must be a Tensor, got NoneType", scores, None, error=TypeError)
        csr = mlmargin.multilabel_margin_loss_csr
        self.check("input must be a Tensor, got numpy.ndarray", scores.numpy(), matrix.indptr,
                   matrix.indices, function=csr, error=TypeError)
        self.check("offsets: expected a tensor or a NumPy array, got a sparse matrix; in CSR form its indptr",
                   scores, matrix, matrix.indices, function=csr, error=TypeError)
        self.check("offsets: expected a tensor or a NumPy array, got a sparse matrix", scores, matrix,
                   function=csr, error=TypeError)
        self.check("offsets: .* got torch.sparse_csr; in CSR form its crow_indices", scores,
                   torch.eye(2, 3).to_sparse_csr(), function=csr, error=TypeError)
        self.check("indices: .* got NoneType", scores, matrix.indptr, function=csr, error=TypeError)
        self.check(r"^multilabel_margin_loss_csr: offsets must be from 3 to 4 at 2, got 2 \(none is",
                   scores, long([0, 3, 2]), long([0, 1, 2, 0]), function=csr)
        # As PyTorch's own.
        with self.assertRaisesRegex(TypeError, "argument 'input'.* must be Tensor, not list"):
            torch.nn.functional.multilabel_margin_loss([1.0], long([0]))

    def test_lists_of_another_length_hear_of_padded(self):
        hint = r"expected equal shapes \(padded=True takes lists of any length\)"
        self.check(hint, torch.ones(2, 3), long([[0], [1]]))
        self.check(hint, torch.ones(3), long([0]))
        self.check("expected equal shapes$|expected equal shapes\n", torch.ones(2, 3),
                   long([[0, -1, -1]]))

    def test_layouts_and_devices(self):
        labels = long([[0, -1]])
        self.check("input: expected a dense tensor on cpu", torch.ones(1, 2).to_sparse(), labels)
        self.check("target: expected a dense tensor on cpu", torch.ones(1, 2),
                   labels.to_sparse())
        self.check("target: expected device cpu.* found meta", torch.ones(1, 2),
                   labels.to("meta"))

    def test_labels_out_of_range(self):
        scores = torch.ones(2, 3)
        for bad in (3, -2, 2**40, -2**63, 2**63 - 1):
            for reduction in exact.REDUCTIONS:
                self.check(f"'target' is out of range: row 1 has the label {bad} at position 1.*"
                           r"\[0, 3\).*1 such", scores, long([[0, -1, 9], [1, bad, -1]]), reduction)
        self.check("'indices' is out of range: row 1 has the label 3 at position 0", scores,
                   long([0, 2, 3]), long([0, 1, 3]), function=mlmargin.multilabel_margin_loss_csr)

    def test_padded_shapes(self):
        for shape, labels in (((2, 3), (3, 1)), ((2, 3), (2,)), ((3,), (1, 2))):
            self.check(re.escape(str(list(labels))), torch.ones(shape),
                       torch.zeros(labels, dtype=torch.int64), padded=True)

    def test_csr(self):
        def check(pattern, offsets, indices, error=RuntimeError):
            self.check(pattern, torch.ones(2, 3), offsets, indices, error=error,
                       function=mlmargin.multilabel_margin_loss_csr)

        check(r"offsets: expected shape \[3\] for 2 rows of input, got \[2\]", long([0, 1]),
              long([0]))
        check(r"indices: expected 1 dimension, got shape \[1, 1\]", long([0, 1, 1]), long([[0]]))
        for offsets in ([0, 2, 1], [-1, 0, 1], [0, 1, 3], [3, 3, 3]):
            check("offsets", long(offsets), long([0, 1]))
        check("offsets: expected scalar type Int or Long but found Float",
              torch.tensor([0.0, 1.0, 1.0]), long([0]))
        check("indices: expected .* int32 or int64, got float64", long([0, 1, 1]),
              numpy.array([0.0]), TypeError)
        check("offsets: expected .* got list", [0, 1, 1], long([0]), TypeError)


class Csr(unittest.TestCase):

    def test_a_scipy_matrix_is_read_where_it_lies(self):
        matrix = scipy.sparse.random(5, 30, density=0.1, format="csr", random_state=1)
        scores = torch.randn(5, 30)
        lists = [matrix.indices[a:b].tolist() for a, b in zip(matrix.indptr, matrix.indptr[1:])]
        expected = mlmargin.multilabel_margin_loss(scores, exact.Batch(scores, lists).target())
        loss = mlmargin.multilabel_margin_loss_csr(scores, matrix.indptr, matrix.indices)
        self.assertTrue(exact.same_bits(loss, expected))

    def test_arrays_with_steps(self):
        scores = torch.randn(2, 5)
        offsets, indices = numpy.array([0, 9, 2, 9, 3, 9]), long([4, 0, 1, 0, 2, 0])
        loss = mlmargin.multilabel_margin_loss_csr(scores, offsets[::2], indices[::2])
        expected = mlmargin.multilabel_margin_loss_csr(scores, long([0, 2, 3]), long([4, 1, 2]))
        self.assertTrue(exact.same_bits(loss, expected))

    def test_one_row(self):
        for scores in (torch.tensor([0.5, 1.0]), torch.tensor([[0.5, 1.0]])):
            loss = mlmargin.multilabel_margin_loss_csr(scores, long([0, 1]), long([0]), "none")
            self.assertEqual((loss.dim(), loss.sum().item()), (scores.dim() - 1, 0.75))

    def test_meta(self):
        scores = torch.empty(2, 3, device="meta", requires_grad=True)
        offsets, indices = (torch.zeros(3, dtype=torch.int64, device="meta") for _ in range(2))
        loss = mlmargin.multilabel_margin_loss_csr(scores, offsets, indices, "none")
        loss.sum().backward()
        self.assertEqual((loss.shape, scores.grad.shape), ((2,), (2, 3)))


class Autocast(unittest.TestCase):

    def test_the_loss_is_float32_as_pytorchs(self):
        scores, target = torch.randn(3, 4).bfloat16(), long([[0, 1, -1, 0]] * 3)
        expected = mlmargin.multilabel_margin_loss(scores.float(), target)
        offsets, indices = long([0, 2, 4, 6]), long([0, 1] * 3)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            theirs = torch.nn.functional.multilabel_margin_loss(scores, target)
            leaf = scores.clone().requires_grad_()
            for loss in (mlmargin.multilabel_margin_loss(leaf, target),
                         mlmargin.multilabel_margin_loss_csr(leaf, offsets, indices)):
                self.assertEqual(loss.dtype, theirs.dtype)
                self.assertTrue(exact.same_bits(loss.detach(), expected))
            loss.backward()
        self.assertEqual(leaf.grad.dtype, torch.bfloat16)

    def test_after_a_linear_layer(self):
        layer, target = torch.nn.Linear(3, 4), long([[2, -1, 0, 0]] * 2)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = layer(torch.randn(2, 3))
            self.assertEqual(out.dtype, torch.bfloat16)
            mlmargin.multilabel_margin_loss(out, target).backward()
        self.assertEqual(layer.weight.grad.dtype, torch.float32)


if __name__ == "__main__":
    unittest.main()
