#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Learns to tag Debian packages by the words of their names and one-line descriptions."""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, List

try:
    import torch
    from tqdm import tqdm

    import mlmargin
    from data import Dataset, Examples, make_dataset, read_packages
    from plot import plot
    from tagger import CUTS, Optimizer, Quality, Tagger, judge, judge_by_frequency
    from timing import compare_losses
except ImportError as error:
    sys.exit(f"train.py: {sys.executable}: {error}; install Debian's python3-torch, python3-tqdm "
             "and python3-matplotlib, source the set_env.sh of an installed mlmargin, and use "
             "/usr/bin/python3")

LEARNING_RATE = 0.02
TIMED_STEPS = 40


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--packages", metavar="FILE",
                        help="a saved `apt-cache dumpavail`, instead of running it")
    parser.add_argument("--architecture",
                        help="the packages to take, besides those for all (None: this machine's)")
    parser.add_argument("--epochs", type=_at_least(1), default=5, help="passes over the packages")
    parser.add_argument("--batch-size", type=_at_least(1), default=256, help="packages a step")
    parser.add_argument("--hidden", type=_at_least(0), default=0,
                        help="width of a hidden layer; 0 for none: a linear tagger")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same result")
    parser.add_argument("--plot", type=Path, default=Path("build/train_debtags.png"),
                        metavar="FILE", help="where to draw loss and precision")
    return parser.parse_args()


def _at_least(lowest: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < lowest:
            raise argparse.ArgumentTypeError(f"expected a number from {lowest}, got {text}")
        return int(text)
    return number


def learn(tagger: Tagger, optimizer: Optimizer, examples: Examples, batch_size: int,
          title: str) -> float:
    """One pass over the examples in a random order; returns the mean loss on the way."""
    total = 0.0
    batches = torch.randperm(len(examples)).split(batch_size)
    for rows in tqdm(batches, desc=title, leave=False, disable=None):  # On a terminal only.
        batch = examples[rows]
        optimizer.zero_grad()
        loss = mlmargin.multilabel_margin_loss(tagger(batch.words), batch.labels, padded=True)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(examples)


def train(options: argparse.Namespace, data: Dataset) -> None:
    """Learns, and prints and draws how well it goes."""
    torch.manual_seed(options.seed)
    tagger = Tagger(data.num_words, data.num_tags, options.hidden)
    optimizer = Optimizer(tagger, LEARNING_RATE)
    cuts = "".join(f"{f'at {cut}':>8}" for cut in CUTS)
    print(f"\n{'epoch':<14}{'learning loss':>14}{'held-out loss':>15}{'precision':>12}{cuts}")
    by_frequency = judge_by_frequency(data.learning, data.held_out, data.num_tags)
    print(f"{'by frequency':<55}{_precision(by_frequency)}")
    losses: List[float] = []
    held_out: List[Quality] = []
    begin = time.perf_counter()
    for epoch in range(1, options.epochs + 1):
        title = f"epoch {epoch} of {options.epochs}"
        losses.append(learn(tagger, optimizer, data.learning, options.batch_size, title))
        held_out.append(judge(tagger(data.held_out.words), data.held_out.labels))
        print(f"{epoch:<14}{losses[-1]:>14.4f}{held_out[-1].loss:>15.4f}{'':>12}"
              f"{_precision(held_out[-1])}", flush=True)
    seconds = time.perf_counter() - begin
    plot(options.plot, losses, held_out)
    print(f"\nLearning took {seconds:.1f} s. Loss and precision are drawn in {options.plot}")
    ours, theirs = compare_losses(tagger, optimizer, data.learning, options.batch_size, TIMED_STEPS)
    print(f"\nThe loss, forward and backward, takes {ours} of the time of a training step;\n"
          f"PyTorch's own takes {theirs}. Medians of {TIMED_STEPS} steps with each,\n"
          f"in turns, after the last epoch; threads: {torch.get_num_threads()}.")


def _precision(quality: Quality) -> str:
    return "".join(f"{precision:>8.3f}" for precision in quality.precision)


def main() -> None:
    """Runs, and ends with one line where that is not possible."""
    options = parse_arguments()
    try:
        packages = read_packages(options.packages, options.architecture)
        data = make_dataset(packages)
        print(f"{len(packages)} packages, {data.num_tags} tags, {data.num_words} words; "
              f"{len(data.held_out)} packages are held out")
        train(options, data)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"train.py: {error}")


if __name__ == "__main__":
    main()
