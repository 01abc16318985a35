# SPDX-License-Identifier: Apache-2.0
"""How much of a training step is the loss: with mlmargin's and with PyTorch's own."""

import itertools
import time
from dataclasses import dataclass, field
from statistics import median
from typing import Callable, List, Tuple

import torch
from torch import Tensor

import mlmargin
from data import Examples
from tagger import Optimizer, Tagger

Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass
class Share:
    """What the steps with one loss took, in milliseconds."""

    loss: List[float] = field(default_factory=list)  # Forward and backward.
    step: List[float] = field(default_factory=list)  # With what is around it.

    def __str__(self) -> str:
        loss, step = median(self.loss), median(self.step)
        return f"{100 * loss / step:.1f} % ({loss:.2f} of {step:.1f} ms)"


def compare_losses(tagger: Tagger, optimizer: Optimizer, examples: Examples, batch_size: int,
                   num_steps: int) -> Tuple[Share, Share]:
    """Goes on training, each step once with mlmargin's loss and once with PyTorch's, in turns.

    PyTorch's wants label lists as wide as the scores: making them is not counted.
    """
    ours, theirs = Share(), Share()
    batches = itertools.cycle(torch.arange(len(examples)).split(batch_size))
    for rows in itertools.islice(batches, num_steps):
        batch = examples[rows]
        wide_labels = _widened(batch.labels, tagger.num_tags)
        turns = [(ours, _our_loss, batch.labels),
                 (theirs, torch.nn.functional.multilabel_margin_loss, wide_labels)]
        for share, loss, labels in turns:
            _timed_step(tagger, optimizer, batch.words, labels, loss, share)
    return ours, theirs


def _our_loss(scores: Tensor, labels: Tensor) -> Tensor:
    return mlmargin.multilabel_margin_loss(scores, labels, padded=True)


def _timed_step(tagger: Tagger, optimizer: Optimizer, words: Tensor, labels: Tensor, loss: Loss,
                share: Share) -> None:
    begin = time.perf_counter()
    optimizer.zero_grad()
    scores = tagger(words)
    # Cut from the tagger, so that backward ends at the scores, where the clock is read.
    cut_scores = scores.detach().requires_grad_()
    loss_begin = time.perf_counter()
    loss(cut_scores, labels).backward()
    loss_end = time.perf_counter()
    scores.backward(cut_scores.grad)
    optimizer.step()
    share.loss.append(1e3 * (loss_end - loss_begin))
    share.step.append(1e3 * (time.perf_counter() - begin))


def _widened(labels: Tensor, num_tags: int) -> Tensor:
    wide = labels.new_full((len(labels), num_tags), -1)
    wide[:, :labels.shape[1]] = labels
    return wide
