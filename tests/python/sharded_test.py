# SPDX-License-Identifier: Apache-2.0
"""Classes spread over processes give what one process gives."""

import itertools
import math
import unittest
from fractions import Fraction

import torch

import exact
import mlmargin
import processes

# The first class of each shard, and last the number of classes.
PART = 16384
ALIGNED = {2: ((0, PART, PART + 1000), (0, 0, 500)),
           3: ((0, PART, 3 * PART, 3 * PART + 100), (0, 500, 500, 500))}
UNALIGNED = {2: ((0, 3, 10), (0, 5000, 40000)), 3: ((0, 1, 5, 11), (0, 7, 7, 20))}
LABELS = (0, 1, 6, 60)


def make_batch(bounds, dtype):
    """The same on all ranks: rows with many labels, few, and none."""
    rng = exact.seeded(f"{bounds} {dtype}")
    classes = bounds[-1]
    generator = torch.Generator().manual_seed(classes)
    scores = torch.randn(len(LABELS), classes, generator=generator, dtype=torch.float64).to(dtype)
    lists = [[rng.randrange(classes) for _ in range(count)] for count in LABELS]
    return exact.Batch(scores, lists)


def grad_output_of(loss):
    return torch.linspace(-1, 2, loss.numel(), dtype=loss.dtype).reshape(loss.shape)


def shard_of(rank, size, reduction):
    """The ranks need not be in the order of the classes."""
    return size - 1 - rank if reduction == "sum" else rank


def cases(size):
    for bounds in ALIGNED[size] + UNALIGNED[size]:
        yield from itertools.product((bounds,), exact.TYPES, exact.REDUCTIONS)


def compute_shards(rank, size):
    """The loss and the gradient of this rank's columns for each case."""
    results = []
    for bounds, dtype, reduction in cases(size):
        batch = make_batch(bounds, dtype)
        label_type = torch.int32 if dtype == torch.float16 else torch.int64
        shard = shard_of(rank, size, reduction)
        local = batch.scores[:, bounds[shard]:bounds[shard + 1]].requires_grad_()
        loss = mlmargin.sharded_multilabel_margin_loss(
            local, batch.padded(dtype=label_type), bounds[shard], bounds[-1], reduction)
        loss.backward(grad_output_of(loss))
        results.append((loss.detach(), local.grad))
    return results


def errors_of(call):
    """The words of the error that a call raises."""
    try:
        call()
    except (RuntimeError, TypeError, ValueError) as error:
        return str(error)
    return "nothing was raised"


def make_errors(rank, size):
    """What is raised on this rank for each mistake; all ranks go on afterwards."""
    del size

    def call(first=4 * rank, columns=4, classes=8, rows=2, labels=None, dtype=torch.float32,
             reduction="mean", layout=torch.strided):
        target = torch.zeros(rows, 1, dtype=torch.int64) if labels is None else labels
        return errors_of(lambda: mlmargin.sharded_multilabel_margin_loss(
            torch.zeros(rows, columns, dtype=dtype, layout=layout), target, first, classes,
            reduction))

    return {
        "gap": call(first=5 * rank),
        "overlap": call(first=3 * rank),
        "too few": call(classes=9),
        "too many": call(classes=7),
        "no classes": call(first=0, columns=0, classes=0, labels=torch.full((2, 1), -1)),
        "classes": call(classes=8 + rank),
        "rows": call(rows=2 + rank),
        "types": call(dtype=torch.float64 if rank else torch.float32),
        "reductions": call(reduction="sum" if rank else "mean"),
        "one wrong type": call(dtype=torch.int32 if rank else torch.float32),
        "one wrong shape": call(labels=torch.zeros(2 - rank, 1, dtype=torch.int64)),
        "one wrong reduction": call(reduction="avg" if rank else "mean"),
        "label": call(labels=torch.tensor([[0], [8]])),
        "labels": call(labels=torch.tensor([[0], [1 + rank]])),
        "junk behind -1": call(labels=torch.tensor([[0, -1, rank], [-1, 9, 9 * rank]])),
        "one wrong label": call(labels=torch.tensor([[0], [-2 if rank else 1]])),
        "one wrong first class": call(first=4.5 if rank else 0),
        "one huge class": call(first=2**70 if rank else 0),
        "one not dense": call(layout=torch.sparse_coo if rank else torch.strided),
        "one no tensor": call(labels=torch.zeros(2, 1, dtype=torch.int64).numpy() if rank else None),
        "no rows": call(rows=0),
        "none": call(),
    }


def differentiate_twice(rank, size):
    del size
    local = torch.randn(2, 3, requires_grad=True)
    loss = mlmargin.sharded_multilabel_margin_loss(local, torch.tensor([[0], [4]]), 3 * rank, 6)
    # The factor of the gradient, 2 * loss, depends on the scores of all ranks.
    first, = torch.autograd.grad(loss * loss, local, create_graph=True)
    return errors_of(first.sum().backward)


class Sharded(unittest.TestCase):

    def check_case(self, case, shards):
        bounds, dtype, reduction = case
        batch = make_batch(bounds, dtype)
        whole = batch.scores.requires_grad_()
        loss = mlmargin.multilabel_margin_loss(whole, batch.padded(), reduction=reduction,
                                               padded=True)
        loss.backward(grad_output_of(loss))
        gradient = torch.cat([local for _, local in shards], dim=1)
        self.assertTrue(exact.same_bits(gradient, whole.grad))
        for local, _ in shards:
            self.assertTrue(exact.same_bits(local, shards[0][0]))
        part = mlmargin.part_classes(bounds[-1])
        if bounds[-1] > 128 and all(
                first % part == 0 or first == end for first, end in zip(bounds, bounds[1:])):
            self.assertTrue(exact.same_bits(shards[0][0], loss.detach()))
        self.check_within_an_ulp(shards[0][0], loss.detach())

    def check_within_an_ulp(self, ours, whole):
        # Each of the two is within 1 ulp of the exact loss.
        for value, other in zip(ours.reshape(-1).tolist(), whole.reshape(-1).tolist()):
            self.assertLessEqual(exact.ulps(value, Fraction(other), ours.dtype), 2)

    def check_size(self, size):
        ranks = processes.run(compute_shards, size)
        for number, case in enumerate(cases(size)):
            with self.subTest(case=case):
                self.check_case(case, [ranks[shard_of(position, size, case[2])][number]
                                       for position in range(size)])

    def test_no_classes_are_an_error(self):
        none = torch.empty(2, 0)
        with self.assertRaisesRegex(RuntimeError, "classes must be >= 1, got 0"):
            torch.ops.mlmargin.shard_sums(none, none.long(), none, 0, 0)

    def test_the_parts_are_those_of_this_test(self):
        for classes in (1, PART, 3 * PART + 100):
            self.assertEqual(mlmargin.part_classes(classes), PART)
            self.assertEqual(torch.ops.mlmargin.num_parts(classes, classes),
                             math.ceil(classes / PART))

    def test_two_processes(self):
        self.check_size(2)

    def test_three_processes(self):
        self.check_size(3)

    def test_mistakes_are_told_on_all_ranks(self):
        words = {
            "gap": r"tile [0, 8), got [0, 4), [5, 9)",
            "overlap": r"tile [0, 8), got [0, 4), [3, 7)",
            "too few": "tile [0, 9)",
            "too many": "tile [0, 7)",
            "no classes": "tile [0, 0)",
            "classes": "the same num_classes",
            "rows": "the same num_classes, labels",
            "labels": "the same num_classes, labels",
            "types": "type",
            "reductions": "reduction",
            "label": "target is out of range: row 1 has the label 8",
            "none": "nothing was raised",
            "junk behind -1": "nothing was raised",
            "no rows": "nothing was raised",
        }
        one_rank = {
            "one wrong type": "local_input: expected float32",
            "one wrong shape": "expected local_input of shape (N, S)",
            "one wrong reduction": "got 'avg'",
            "one wrong label": "row 1 has the label -2",
            "one wrong first class": "float",
            "one huge class": "first_class: expected a number of classes",
            "one not dense": "local_input: expected a dense tensor",
            "one no tensor": "target must be a Tensor, got numpy.ndarray; torch.from_numpy",
        }
        for rank, errors in enumerate(processes.run(make_errors, 2)):
            for mistake, error in errors.items():
                expected = words.get(mistake) or (
                    one_rank[mistake] if rank == 1 else "the arguments of rank 1 are wrong")
                with self.subTest(rank=rank, mistake=mistake):
                    self.assertIn(expected, error)

    def test_a_second_derivative_is_refused(self):
        for error in processes.run(differentiate_twice, 2):
            self.assertIn("once_differentiable", error)


if __name__ == "__main__":
    unittest.main()
