# SPDX-License-Identifier: Apache-2.0
"""This package in PyTorch's place."""

import unittest

import torch

import mlmargin

FUNCTIONAL = torch.nn.functional
STOCK = FUNCTIONAL.multilabel_margin_loss
# What PyTorch's own float32 arithmetic gives 1.0 for.
SCORES = torch.tensor([[16777218.0, 16777218.0]])
TARGET = torch.tensor([[0, -1]])


class Patch(unittest.TestCase):

    def tearDown(self):
        mlmargin.unpatch()

    def loss(self):
        return FUNCTIONAL.multilabel_margin_loss(SCORES, TARGET).item()

    def test_on_and_off_any_number_of_times(self):
        for _ in range(2):
            self.assertEqual(self.loss(), 1.0)
            for _ in range(2):
                mlmargin.patch()
                self.assertTrue(mlmargin.is_patched())
                self.assertEqual(self.loss(), 0.5)
            for _ in range(2):
                mlmargin.unpatch()
                self.assertFalse(mlmargin.is_patched())
                self.assertIs(FUNCTIONAL.multilabel_margin_loss, STOCK)

    def test_modules_follow(self):
        module = torch.nn.MultiLabelMarginLoss(reduction="none")
        self.assertEqual(module(SCORES, TARGET).tolist(), [1.0])
        mlmargin.patch()
        self.assertEqual(module(SCORES, TARGET).tolist(), [0.5])
        self.assertEqual(module(SCORES.half(), TARGET.int()).shape, (1,))
        mlmargin.unpatch()
        self.assertEqual(module(SCORES, TARGET).tolist(), [1.0])

    def test_the_deprecated_arguments_and_parameters(self):
        mlmargin.patch()
        with self.assertWarns(UserWarning):
            loss = FUNCTIONAL.multilabel_margin_loss(torch.nn.Parameter(SCORES), TARGET, None, False)
        self.assertEqual(loss.tolist(), [0.5])

    def test_others_go_to_the_original(self):
        class Mine(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, arguments=(), keywords=None):
                return function.__name__

        mlmargin.patch()
        self.assertEqual(FUNCTIONAL.multilabel_margin_loss(SCORES.as_subclass(Mine), TARGET),
                         "multilabel_margin_loss")
        with self.assertRaisesRegex(RuntimeError, "multilabel_margin_loss_forward"):
            FUNCTIONAL.multilabel_margin_loss(SCORES.to_sparse(), TARGET)

    def train(self):
        torch.manual_seed(3)
        model = torch.nn.Linear(6, 5, dtype=torch.float64)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        features = torch.randn(8, 6, dtype=torch.float64)
        target = torch.tensor([[0, 2, -1, 0, 0], [4, -1, 0, 0, 0]] * 4)
        for _ in range(3):
            optimizer.zero_grad()
            torch.nn.MultiLabelMarginLoss()(model(features), target).backward()
            optimizer.step()
        return model.weight.detach()

    def test_training_is_the_same(self):
        stock = self.train()
        mlmargin.patch()
        # Weights below 2 after three steps of some ten roundings of 2^-53 each.
        self.assertLess((self.train() - stock).abs().max().item(), 100 * 2.0**-53)


if __name__ == "__main__":
    unittest.main()
