# SPDX-License-Identifier: Apache-2.0
"""Times the PyTorch module, forward and backward, beside PyTorch's own: one thread each, in turns.

Usage: module_bench.py <figures.json> [--quick]

The labels are padded to the shape of the scores, as PyTorch wants them. Where PyTorch would take
too long, both are given fewer rows. All times are minima over the turns.
"""

import argparse
import json
import time

import torch

import mlmargin

# Of bench/cases.cc: name, rows, classes, labels.
SHAPES = [
    ("Mediamill", 4096, 101, 4),
    ("Delicious", 1024, 983, 19),
    ("EURLex-4K", 1024, 3993, 5),
    ("AmazonCat-13K", 512, 13330, 5),
    ("Wiki10-31K", 128, 30938, 19),
    ("Delicious-200K", 16, 205443, 76),
    ("Wikipedia-500K", 32, 501070, 5),
    ("Amazon-670K", 24, 670091, 5),
    ("Amazon-3M", 1, 2812281, 36),
    ("half-dense 1024", 64, 1024, 512),
    ("half-dense 4096", 16, 4096, 2048),
]
MODULES = {"mlmargin": mlmargin.MultiLabelMarginLoss(), "pytorch": torch.nn.MultiLabelMarginLoss()}


def make_batch(rows, classes, labels, seed=1):
    """Scores that are N(0, 1), and as many different labels in each row."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(rows, classes, generator=generator, requires_grad=True)
    target = torch.full((rows, classes), -1, dtype=torch.int64)
    for row in range(rows):
        target[row, :labels] = torch.randperm(classes, generator=generator)[:labels]
    return scores, target


def step(module, scores, target):
    """One forward and backward; returns their seconds."""
    scores.grad = None
    start = time.perf_counter()
    loss = module(scores, target)
    middle = time.perf_counter()
    loss.backward()
    return middle - start, time.perf_counter() - middle


def check(scores, target):
    gradients = {}
    for name, module in MODULES.items():
        step(module, scores, target)
        gradients[name] = scores.grad
    ours, theirs = gradients.values()
    # PyTorch decides and adds in float32.
    wrong = (ours - theirs).norm() / theirs.norm()
    assert wrong < 1e-2, f"the gradients differ by {wrong}"


def measure(shape, quick):
    name, rows, classes, labels = shape
    if quick:
        rows, classes = min(rows, 2), min(classes, 5000)
    scores, target = make_batch(rows, classes, labels)
    check(scores, target)
    best = {module: [float("inf")] * 2 for module in MODULES}
    for turn in range(1 if quick else 7):
        for which, module in MODULES.items():
            # The first of two finds the caches as the other left them.
            for _ in range(2 if which == "pytorch" and turn > 1 else 3):
                best[which] = list(map(min, best[which], step(module, scores, target)))
    ours, theirs = best["mlmargin"], best["pytorch"]
    print(f"{name:<16} {rows} x {classes}, {labels} labels: "
          f"forward {theirs[0] / ours[0]:.1f}, backward {theirs[1] / ours[1]:.1f}, "
          f"both {sum(theirs) / sum(ours):.1f} times faster than PyTorch "
          f"({sum(ours) * 1e3:.3f} ms)", flush=True)
    return {"name": name, "rows": rows, "classes": classes, "labels": labels,
            "forward_seconds": ours[0], "backward_seconds": ours[1],
            "pytorch_forward_seconds": theirs[0], "pytorch_backward_seconds": theirs[1],
            "speed_up": sum(theirs) / sum(ours)}


def small_call(quick):
    """Seconds of one call of the module on 2 x 3 that needs no gradient, and with backward."""
    scores = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    target = torch.tensor([[0, 1, -1], [2, -1, -1]])
    leaf = scores.clone().requires_grad_()
    calls = range(20 if quick else 2000)
    best = {}
    for _ in range(2 if quick else 25):
        for name, module in MODULES.items():
            start = time.perf_counter()
            for _ in calls:
                module(scores, target)
            middle = time.perf_counter()
            for _ in calls:
                module(leaf, target).backward()
            stop = time.perf_counter()
            seconds = [(middle - start) / len(calls), (stop - middle) / len(calls)]
            best[name] = list(map(min, best.get(name, seconds), seconds))
    result = {"seconds": best["mlmargin"][0], "pytorch_seconds": best["pytorch"][0],
              "training_seconds": best["mlmargin"][1],
              "pytorch_training_seconds": best["pytorch"][1]}
    print("2 x 3: " + ", ".join(f"{key} {value * 1e6:.2f} us" for key, value in result.items()))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("figures", help="gets the figures as JSON")
    parser.add_argument("--quick", action="store_true", help="shows that it runs, not how fast")
    options = parser.parse_args()
    torch.set_num_threads(1)
    figures = {"small_call": small_call(options.quick),
               "shapes": [measure(shape, options.quick) for shape in SHAPES]}
    with open(options.figures, "w", encoding="utf-8") as file:
        json.dump(figures, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
