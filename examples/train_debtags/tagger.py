# SPDX-License-Identifier: Apache-2.0
"""A tagger: from the words of a package to a score for each tag."""

from dataclasses import dataclass
from typing import List, Sequence

import torch
from torch import Tensor, nn

import mlmargin
from data import Examples

# Precision at 1, 3 and 5.
CUTS = (1, 3, 5)


class Tagger(nn.Module):
    """Adds up a vector for each word: the scores of the tags, or what a hidden layer gets.

    Args:
        num_words, num_tags: as in Dataset.
        hidden: the width of the hidden layer, 0 for none.
    """

    def __init__(self, num_words: int, num_tags: int, hidden: int) -> None:
        super().__init__()
        self.num_tags = num_tags
        width = hidden or num_tags
        # A batch has few of all words: sparse gradients touch only their vectors.
        self.words = nn.EmbeddingBag(num_words + 1, width, mode="sum", padding_idx=0, sparse=True)
        nn.init.normal_(self.words.weight, std=0.1 if hidden else 0.0)
        self.bias = nn.Parameter(torch.zeros(width))
        self.output = nn.Sequential(nn.ReLU(), nn.Linear(hidden, num_tags)) if hidden else None

    def forward(self, words: Tensor) -> Tensor:
        """Word lists (N, words) to scores (N, tags)."""
        sums = self.words(words) + self.bias
        return sums if self.output is None else self.output(sums)


class Optimizer:
    """Adam for sparse and for dense gradients at once."""

    def __init__(self, tagger: Tagger, learning_rate: float) -> None:
        dense = [parameter for name, parameter in tagger.named_parameters()
                 if name != "words.weight"]
        self._parts = (torch.optim.SparseAdam([tagger.words.weight], learning_rate),
                       torch.optim.Adam(dense, learning_rate))

    def zero_grad(self) -> None:
        """Forgets the gradients."""
        for part in self._parts:
            part.zero_grad()

    def step(self) -> None:
        """Moves the parameters."""
        for part in self._parts:
            part.step()


@dataclass
class Quality:
    """The mean loss, and which share of the tags with the highest scores are right."""

    loss: float
    precision: List[float]  # At each of CUTS.


@torch.no_grad()
def judge(scores: Tensor, labels: Tensor) -> Quality:
    """Scores (N, tags) against lists of labels (N, labels)."""
    loss = mlmargin.multilabel_margin_loss(scores, labels, padded=True)
    highest = scores.topk(min(max(CUTS), scores.shape[1])).indices
    hits = (highest.unsqueeze(2) == labels.unsqueeze(1)).any(2).double()
    return Quality(loss.item(), [hits[:, :k].sum().item() / (k * len(hits)) for k in CUTS])


@torch.no_grad()
def judge_by_frequency(learning: Examples, held_out: Examples, num_tags: int) -> Quality:
    """How well the same scores do for every package: how often it has a tag."""
    labels = learning.labels[learning.labels >= 0]
    frequency = labels.bincount(minlength=num_tags) / len(learning)
    return judge(frequency.expand(len(held_out), -1), held_out.labels)
