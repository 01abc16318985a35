# SPDX-License-Identifier: Apache-2.0
"""Thousands of generated calls of one data type, judged by exact arithmetic and by PyTorch.

Exact arithmetic decides: each result must be within 1 ulp of it, each mask equal to it. PyTorch
must agree within what its own rounding allows, which shows that both compute the same thing.

Usage: generated.py float32|float16|bfloat16 [number of a single case]
"""

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import List

import numpy as np
import torch

import acl
import oracle

NUM_CASES = 4000
DTYPES = {
    "float32": (oracle.FLOAT32, acl.FLOAT),
    "float16": (oracle.FLOAT16, acl.FLOAT16),
    "bfloat16": (oracle.BFLOAT16, acl.BF16),
}
ALLOWED_ULPS = 1.0


@dataclass
class Case:
    """One call. scores and target have the shape (N, C); rank says what the operator is given."""

    number: int
    rank: int
    reduction: int
    scores: np.ndarray  # float64, values of the data type
    target: np.ndarray  # int64
    label_type: int
    traits: List[str] = field(default_factory=list)

    def __str__(self):
        rows, classes = self.scores.shape
        label_bits = 32 if self.label_type == acl.INT32 else 64
        return (f"case {self.number}: ({rows}, {classes}) rank {self.rank} reduction "
                f"{self.reduction} int{label_bits} labels, {', '.join(self.traits)}")


# ---- Making cases ---------------------------------------------------------------------------


def make_scores(rng, dtype, shape):
    """Scores of one of several kinds, as values of the data type, and the kind's name."""
    normal = rng.standard_normal(shape)
    tiny = 2.0 ** dtype.min_exponent
    kinds = {
        "normal": lambda: normal,
        "wide": lambda: 100 * normal,
        "ties": lambda: np.round(normal * 4) / 4,
        "equal": lambda: np.full(shape, 0.75),
        # Hinges that cancel: large scores, differences near the margin.
        "near the margin": lambda: 100.3 + (rng.random(shape) < 0.5) + 1e-3 * normal,
        "on the margin": lambda: rng.integers(-2, 3, shape).astype(np.float64),
        "subnormal": lambda: tiny * rng.integers(-8, 9, shape) / 4,
        "mixed magnitudes": lambda: normal * 2.0 ** rng.integers(-12, 12, shape),
        "huge": lambda: normal * dtype.max_value / 8,
        "special": lambda: np.where(rng.random(shape) < 0.15, rng.choice(
            [np.nan, np.inf, -np.inf, 0.0, -0.0, dtype.max_value, -dtype.max_value], shape),
                                    normal),
    }
    kind = rng.choice(list(kinds))
    return oracle.widen(dtype, oracle.narrow(dtype, kinds[kind]())), kind


def make_target(rng, rows, classes):
    """A list of labels per row, closed by -1 where there is room, then arbitrary entries."""
    density = rng.choice(["none", "one", "few", "half", "all", "mixed"])
    repeats, stray, rest = rng.random(3) < (0.3, 0.2, 0.3)
    target = np.full((rows, classes), -1, dtype=np.int64)
    for row in target:
        kind = rng.choice(["none", "one", "few", "half", "all"]) if density == "mixed" else density
        count = {"none": 0, "one": 1, "few": min(classes, 5), "half": (classes + 1) // 2,
                 "all": classes}[kind]
        labels = rng.choice(classes, count, replace=bool(repeats))
        row[:count] = labels
        if stray and count:
            bad = rng.random(count) < 0.3
            row[:count][bad] = rng.choice([-2, classes, classes + 7, -2**31, 2**31 - 1], bad.sum())
        if rest and count + 1 < classes:
            row[count + 1:] = rng.integers(0, classes, classes - count - 1)
    traits = [f"{density} labels"]
    traits += [name for name, on in (("repeats", repeats), ("out of range", stray),
                                     ("entries after -1", rest)) if on]
    return target, traits


def make_case(number, dtype):
    rng = np.random.default_rng([number, dtype.precision])
    rank = int(rng.choice([0, 1, 2], p=[0.03, 0.17, 0.8]))
    rows = int(rng.choice([0, 1, 2, 3, 5, 17], p=[0.05, 0.2, 0.2, 0.25, 0.2, 0.1]))
    if rng.random() < 0.02:
        classes = int(rng.integers(500, 3000))
    else:
        classes = int(rng.choice([rng.integers(1, 12), rng.integers(12, 70), 2**rng.integers(8)]))
    if rank < 2:
        rows = 1
    if rank == 0:
        classes = 1
    scores, kind = make_scores(rng, dtype, (rows, classes))
    target, traits = make_target(rng, rows, classes)
    label_type = int(rng.choice([acl.INT32, acl.INT64]))
    if label_type == acl.INT64 and "out of range" in traits and rng.random() < 0.5:
        # Would be label 0 or 1 if only the low 32 bits were looked at.
        target[target == classes] = 2**32 + min(1, classes - 1)
    return Case(number, rank, int(rng.integers(3)), scores, target, label_type, [kind] + traits)


# ---- Views ----------------------------------------------------------------------------------


def layout(rng, shape, may_repeat):
    """Strides (or None), offset and storage size of a random view of the shape."""
    if not shape:
        offset = int(rng.integers(4))
        return [], offset, offset + 1
    kind = rng.choice(["null strides", "padded", "stepped", "transposed", "expanded"])
    if kind == "null strides":
        return None, 0, int(np.prod(shape))
    steps = int(rng.integers(2, 4)) if kind == "stepped" else 1
    padding = int(rng.integers(1, 9))
    strides, extent = [0] * len(shape), steps
    axes = range(len(shape)) if kind == "transposed" else reversed(range(len(shape)))
    for axis in axes:
        strides[axis] = extent
        extent = extent * max(shape[axis], 1) + padding
    if kind == "expanded" and may_repeat:
        strides[int(rng.integers(len(shape)))] = 0
    offset = int(rng.integers(6))
    used = sum(s * (n - 1) for s, n in zip(strides, shape) if n > 0)
    for axis, size in enumerate(shape):
        if size <= 1 and rng.random() < 0.3:
            strides[axis] = 2**63 - 1  # Never looked at.
    return strides, offset, offset + used + 1 + int(rng.integers(4))


def poisoned(rng, dtype, size):
    info = np.iinfo(acl.ELEMENT[dtype])
    return rng.integers(info.min, info.max, size, dtype=info.dtype, endpoint=True)


def make_view(rng, dtype, shape, elements=None):
    """A view over arbitrary bytes, with the elements in it; inputs may have stride 0, and then
    keep the last of the elements that share an address."""
    strides, offset, size = layout(rng, shape, may_repeat=elements is not None)
    view = acl.View(dtype, list(shape), poisoned(rng, dtype, size), strides, offset)
    if elements is not None:
        view.storage[view.indices()] = np.asarray(elements).reshape(shape)
    return view


# ---- Judging --------------------------------------------------------------------------------


def torch_target(target):
    """What PyTorch accepts: the same labels without those out of range."""
    classes = target.shape[1]
    cleaned = np.full_like(target, -1)
    for row, labels in zip(cleaned, target):
        if all(-1 <= label < classes for label in labels):
            row[:] = labels
        else:
            kept = oracle.read_labels(labels.tolist(), classes)
            row[:len(kept)] = kept
    return torch.from_numpy(cleaned)


def torch_losses(case, dtype):
    scores = torch.from_numpy(case.scores).to(dtype)
    target = torch_target(case.target)
    if case.rank < 2:
        scores, target = scores[0], target[0]
    out, mask = torch.ops.aten.multilabel_margin_loss_forward(scores, target, case.reduction)
    return out.reshape(-1).double().numpy(), mask.double().numpy().reshape(case.scores.shape)


def rounding_slack(case, epsilon):
    """A bound on the rounding error of adding up hinges one by one, for each result."""
    slack = []
    for scores, target in zip(np.where(np.isfinite(case.scores), case.scores, 0), case.target):
        labels = oracle.read_labels(target.tolist(), len(scores))
        others = np.delete(scores, labels)
        own, other = np.abs(scores[labels]), np.abs(others)
        # The three terms of a pair round twice; the sum rounds once a pair.
        terms = len(other) * (2 + 2 * own).sum() + len(own) * other.sum()
        hinges = len(other) * (1 + own).sum() + len(own) * other.sum()
        slack.append(epsilon * (2 * terms + (len(own) * len(other) + 4) * hinges) / len(scores))
    if case.reduction == 0:
        return slack
    total = sum(slack) + epsilon * len(slack) * sum(slack)
    return [total / max(len(slack), 1) if case.reduction == 1 else total]


class Judge:

    def __init__(self, dtype):
        self.dtype = dtype
        self.failures = []
        self.worst, self.worst_case = 0.0, None
        self.counts = Counter()

    def fail(self, case, what):
        self.failures.append(f"{case}: {what}")

    def losses(self, case, results, exact):
        for position, (value, truth) in enumerate(zip(results, exact)):
            self.counts["results"] += 1
            ulps = oracle.ulps(self.dtype, truth, value)
            self.counts["nearest"] += ulps <= 0.5
            if ulps > self.worst:
                self.worst, self.worst_case = ulps, f"{case}, result {position}"
            if ulps > ALLOWED_ULPS:
                self.fail(case, f"result {position} is {value!r}, the exact loss "
                                f"{truth.approximate()!r}: {ulps:.3g} ulp apart")

    def torch(self, case, results, exact, torch_dtype):
        """PyTorch in torch_dtype against the results, within both sides' rounding."""
        theirs, mask = torch_losses(case, torch_dtype)
        if not np.array_equal(mask, oracle.masks(case.target)):
            self.fail(case, "PyTorch's mask differs")
        if "special" in case.traits and torch_dtype == torch.float32:
            return  # Overflows where the exact loss does not.
        slack = rounding_slack(case, torch.finfo(torch_dtype).eps)
        self.counts["compared with torch"] += len(theirs)
        for value, their, truth, allowed in zip(results, theirs, exact, slack):
            if value == their or (np.isnan(value) and np.isnan(their)):
                self.counts["equal to torch"] += 1
                continue
            ulp = one_ulp(self.dtype, their)
            if np.isfinite(value) and np.isfinite(their):
                if abs(value - their) <= allowed + ulp:
                    continue
            elif np.isinf(value) and truth.approximate() > self.dtype.max_value:
                continue  # Beyond the type's range, not beyond float64's.
            self.fail(case, f"{value!r}, but PyTorch in {torch_dtype} has {their!r}")


def one_ulp(dtype, value):
    if not np.isfinite(value) or value == 0:
        return 2.0 ** (dtype.min_exponent - dtype.precision + 1)
    exponent = max(np.frexp(abs(value))[1] - 1, dtype.min_exponent)
    return 2.0 ** (exponent - dtype.precision + 1)


def run_case(session, judge, case, acl_type):
    rng = np.random.default_rng([case.number, 77])
    shape = {0: [], 1: [case.scores.shape[1]], 2: list(case.scores.shape)}[case.rank]
    self_view = make_view(rng, acl_type, shape, oracle.narrow(judge.dtype, case.scores))
    target_view = make_view(rng, case.label_type, shape, case.target)
    # A stride of 0 makes elements equal: what is in memory counts.
    case.scores = oracle.widen(judge.dtype, self_view.elements()).reshape(case.scores.shape)
    case.target = target_view.elements().astype(np.int64).reshape(case.target.shape)

    out_shape = [case.scores.shape[0]] if case.reduction == 0 and case.rank == 2 else (
        [] if rng.random() < 0.5 else [1])
    out = make_view(rng, acl_type, out_shape)
    mask = make_view(rng, acl_type, shape)
    before = [(view, view.storage.copy()) for view in (out, mask)]
    session.multilabel_margin_loss(self_view, target_view, case.reduction, out, mask)

    for view, storage in before:
        outside = np.ones(storage.size, dtype=bool)
        outside[view.indices()] = False
        if not np.array_equal(view.storage[outside], storage[outside]):
            judge.fail(case, "bytes outside the view were written")
    exact = oracle.losses(case.scores, case.target, case.reduction)
    results = oracle.widen(judge.dtype, out.elements()).reshape(-1).tolist()
    judge.losses(case, results, exact)
    flags = oracle.widen(judge.dtype, mask.elements()).reshape(case.target.shape)
    if not np.array_equal(flags, oracle.masks(case.target)):
        judge.fail(case, "the mask is wrong")
    if case.scores.shape[0] == 0:
        return  # PyTorch leaves the result of an empty batch uninitialised.
    judge.torch(case, results, exact, torch.float64)
    if judge.dtype is oracle.FLOAT32 and "huge" not in case.traits:
        judge.torch(case, results, exact, torch.float32)


def main(name, numbers):
    dtype, acl_type = DTYPES[name]
    torch.set_num_threads(1)
    judge = Judge(dtype)
    begin = time.monotonic()
    with acl.Session() as session, np.errstate(all="ignore"):
        for number in numbers:
            case = make_case(number, dtype)
            judge.counts[f"reduction {case.reduction}"] += 1
            judge.counts.update(case.traits)
            run_case(session, judge, case, acl_type)
    for failure in judge.failures[:20]:
        print(failure)
    counts = judge.counts
    print(f"{name}: {len(numbers)} calls, {counts['results']} results, "
          f"{len(judge.failures)} failures, {time.monotonic() - begin:.1f} s")
    print(f"  worst {judge.worst:.4f} ulp ({judge.worst_case}); "
          f"{counts['nearest']} of {counts['results']} are the nearest number")
    print(f"  {counts['equal to torch']} of {counts['compared with torch']} comparisons with "
          "PyTorch are bit-equal after widening")
    print("  " + ", ".join(f"{count} {trait}" for trait, count in sorted(counts.items())))
    return 1 if judge.failures else 0


if __name__ == "__main__":
    chosen = [int(number) for number in sys.argv[2:]]
    sys.exit(main(sys.argv[1], chosen or range(NUM_CASES)))
