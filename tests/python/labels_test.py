# SPDX-License-Identifier: Apache-2.0
"""Label lists from a matrix of zeros and ones."""

import unittest

import scipy.sparse
import torch

import mlmargin

TYPES = (torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.bfloat16,
         torch.float32, torch.float64)


class MultiHot(unittest.TestCase):

    def test_lists_are_in_order_and_as_wide_as_the_longest(self):
        multihot = torch.tensor([[0, 1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]])
        expected = [[1, 3], [-1, -1], [0, -1]]
        for dtype in TYPES:
            labels = mlmargin.labels_from_multihot(multihot.to(dtype))
            self.assertEqual((labels.dtype, labels.tolist()), (torch.int64, expected))
        labels = mlmargin.labels_from_multihot(multihot, dtype=torch.int32)
        self.assertEqual((labels.dtype, labels.tolist()), (torch.int32, expected))

    def test_there_and_back(self):
        for rows, classes, density in ((1, 1, 1.0), (7, 5, 0.4), (4, 300, 0.02), (3, 4, 0.0)):
            multihot = torch.rand(rows, classes) < density
            labels = mlmargin.labels_from_multihot(multihot)
            self.assertEqual(labels.shape[1], max(1, int(multihot.sum(1).max())))
            # A column more takes the padding.
            back = torch.zeros(rows, classes + 1, dtype=torch.bool).scatter(
                1, labels.remainder(classes + 1), True)[:, :-1]
            self.assertTrue(torch.equal(back, multihot))

    def test_one_row_and_views(self):
        self.assertEqual(mlmargin.labels_from_multihot(torch.tensor([0, 1, 1])).tolist(), [1, 2])
        views = torch.tensor([[0, 1], [1, 1]]).t()[:, ::1]
        self.assertEqual(mlmargin.labels_from_multihot(views).tolist(), [[1, -1], [0, 1]])

    def test_empty(self):
        self.assertEqual(mlmargin.labels_from_multihot(torch.zeros(0, 3)).shape, (0, 1))
        self.assertEqual(mlmargin.labels_from_multihot(torch.zeros(2, 0)).tolist(), [[-1], [-1]])

    def test_the_loss_of_what_it_gives(self):
        scores = torch.tensor([[0.5, -0.25, 1.0, 0.0]])
        labels = mlmargin.labels_from_multihot(torch.tensor([[0.0, 0.0, 1.0, 0.0]]))
        loss = mlmargin.multilabel_margin_loss(scores, labels, padded=True)
        self.assertEqual(loss.item(), 0.125)

    def test_refusals(self):
        for value in (2.0, -1.0, 0.5, float("nan")):
            with self.assertRaisesRegex(ValueError, rf"got {value} at position \[1, 0\]"):
                mlmargin.labels_from_multihot(torch.tensor([[0.0, 1.0], [value, value]]))
        with self.assertRaisesRegex(ValueError, r"expected shape .* got \(1, 1, 2\)"):
            mlmargin.labels_from_multihot(torch.zeros(1, 1, 2))
        multihot = torch.tensor([[0.0, 1.0]])
        for value, text in ((multihot.numpy(), "got numpy.ndarray; torch.from_numpy"),
                            ([[0, 1]], "got list; torch.tensor makes one"),
                            (scipy.sparse.csr_matrix([[0, 1]]), "got scipy.csr_matrix; .*indptr")):
            with self.assertRaisesRegex(TypeError, "labels_from_multihot: multihot must be a Tensor, "
                                        + text):
                mlmargin.labels_from_multihot(value)
        for value, text in ((multihot.to_sparse(), "got torch.sparse_coo; .*multilabel_margin_loss_csr"),
                            (multihot.to_sparse_csr(), "got torch.sparse_csr"),
                            (multihot.to("meta"), "with data, got one on the device meta")):
            with self.assertRaisesRegex(ValueError, "multihot: expected a .*tensor.*" + text):
                mlmargin.labels_from_multihot(value)
        with self.assertRaisesRegex(ValueError, "dtype: expected .* got torch.int16"):
            mlmargin.labels_from_multihot(torch.zeros(1, 2), dtype=torch.int16)


if __name__ == "__main__":
    unittest.main()
