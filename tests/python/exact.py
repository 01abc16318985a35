# SPDX-License-Identifier: Apache-2.0
"""The loss and the counts of its gradient in exact arithmetic, and random batches to try."""

import math
import random
from dataclasses import dataclass
from fractions import Fraction

import torch

TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
REDUCTIONS = ("none", "mean", "sum")


@dataclass
class Batch:
    """Scores (N, C), and for each row a list of labels without padding."""

    scores: torch.Tensor
    lists: list

    def padded(self, columns=None, dtype=torch.int64):
        """Label lists (N, columns), by default as wide as the longest; -1 where a list ended."""
        width = max((len(row) for row in self.lists), default=0) if columns is None else columns
        rows = [row + [-1] * (width - len(row)) for row in self.lists]
        return torch.tensor(rows, dtype=dtype).reshape(len(rows), width)

    def target(self, dtype=torch.int64):
        """Label lists of the shape of the scores."""
        return self.padded(self.scores.shape[1], dtype)

    def csr(self, offset_type=torch.int64, index_type=torch.int64):
        offsets = [0]
        for row in self.lists:
            offsets.append(offsets[-1] + len(row))
        indices = [label for row in self.lists for label in row]
        return torch.tensor(offsets, dtype=offset_type), torch.tensor(indices, dtype=index_type)


def random_batch(rng, rows, classes, max_labels, dtype, grid=None):
    """Scores near 0, multiples of 1/grid if that is given: then hinges of exactly 0 are common."""
    values = [[rng.randint(-2 * grid, 2 * grid) / grid if grid else rng.gauss(0, 1)
               for _ in range(classes)] for _ in range(rows)]
    lists = [[rng.randrange(classes) for _ in range(rng.randint(0, max_labels))]
             for _ in range(rows)]
    return Batch(torch.tensor(values, dtype=torch.float64).reshape(rows, classes).to(dtype), lists)


def _hinges(scores, labels):
    """(label's position in the list, class, hinge) of each pair that counts; finite scores."""
    exact = [Fraction(x) for x in scores]
    others = [i for i in range(len(exact)) if i not in set(labels)]
    for position, label in enumerate(labels):
        for i in others:
            hinge = 1 - exact[label] + exact[i]
            if hinge > 0:
                yield position, i, hinge


def loss(batch, reduction):
    """Fractions: N of them for none, else 1."""
    rows, classes = batch.scores.shape
    losses = [sum((hinge for _, _, hinge in _hinges(x, labels)), Fraction(0)) / classes
              for x, labels in zip(batch.scores.tolist(), batch.lists)]
    if reduction == "none":
        return losses
    return [sum(losses, Fraction(0)) / (rows if reduction == "mean" else 1)]


def counts(batch):
    """The integers of the gradient, N x C: the gradient of the sum, times C."""
    result = []
    for x, labels in zip(batch.scores.tolist(), batch.lists):
        row = [0] * len(x)
        for position, i, _ in _hinges(x, labels):
            row[i] += 1
            row[labels[position]] -= 1
        result.append(row)
    return result


def ulps(value, exact, dtype):
    """How far a finite value is from the exact one, in units of that one's last place."""
    info = torch.finfo(dtype)
    if exact == 0:
        return 0.0 if value == 0 else math.inf
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    if abs(exact) < Fraction(2) ** exponent:
        exponent -= 1
    ulp = Fraction(info.eps) * max(Fraction(2) ** exponent, Fraction(info.tiny))
    return float(abs(Fraction(value) - exact) / ulp)


def same_bits(a, b):
    """Whether two tensors of one type have the same shape and the same bits, whatever they are."""
    integers = {2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
    return (a.dtype == b.dtype and a.shape == b.shape
            and torch.equal(a.contiguous().view(integers), b.contiguous().view(integers)))


def seeded(name):
    return random.Random(name)
