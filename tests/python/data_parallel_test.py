# SPDX-License-Identifier: Apache-2.0
"""Rows spread over two processes by DistributedDataParallel train as in one process."""

import unittest

import torch
from torch.nn.parallel import DistributedDataParallel

import mlmargin
import processes

ROWS, FEATURES, CLASSES, STEPS = 8, 6, 7, 4


def train(rows, parallel):
    """The gradients of each step, and the parameters at the end."""
    torch.manual_seed(5)
    model = torch.nn.Linear(FEATURES, CLASSES, dtype=torch.float64)
    model = DistributedDataParallel(model) if parallel else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = mlmargin.MultiLabelMarginLoss(padded=True)
    gradients = []
    for _ in range(STEPS):
        features = torch.randn(ROWS, FEATURES, dtype=torch.float64)
        target = torch.randint(-1, CLASSES, (ROWS, 3))
        optimizer.zero_grad()
        loss(model(features[rows]), target[rows]).backward()
        gradients.append(torch.cat([p.grad.reshape(-1) for p in model.parameters()]))
        optimizer.step()
    return gradients, torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def train_half(rank, size):
    share = ROWS // size
    return train(slice(rank * share, (rank + 1) * share), parallel=True)


class DataParallel(unittest.TestCase):

    def test_two_processes_train_as_one(self):
        gradients, parameters = train(slice(None), parallel=False)
        ranks = processes.run(train_half, 2)
        self.assertTrue(torch.equal(ranks[0][1], ranks[1][1]))
        # The loss's gradients are exact counts times 1 / (C * rows). What differs is the order in
        # which ROWS products, of features below 4 and gradients below 1, are added up.
        bound = ROWS * 4 * 2.0**-53
        for rank_gradients, rank_parameters in ranks:
            for ours, whole in zip(rank_gradients, gradients):
                self.assertLess((ours - whole).abs().max().item(), bound)
            # A rounding of a parameter and one of its change for each step, beside the gradients'.
            self.assertLess((rank_parameters - parameters).abs().max().item(),
                            STEPS * (bound + 2 * 2.0**-53))


if __name__ == "__main__":
    unittest.main()
