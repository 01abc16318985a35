# SPDX-License-Identifier: Apache-2.0
"""Other forms of labels."""

import torch
from torch import Tensor

from ._arguments import not_a_tensor


def labels_from_multihot(multihot: Tensor, dtype: torch.dtype = torch.int64) -> Tensor:
    """Label lists, padded with -1, from a matrix that has 1 at labels and 0 elsewhere.

    Args:
        multihot: of shape (N, C) or (C) and any type but complex; every value is 0 or 1.
        dtype: of the lists, torch.int64 or torch.int32.

    Returns:
        Lists in the order of the classes, of shape (N, K) or (K), where K is the largest number of
        labels in a row, and at least 1: for ``multilabel_margin_loss(..., padded=True)``.

    Raises:
        TypeError: for what is no tensor.
        ValueError: for a tensor that is sparse or has no data, another shape, another type asked
            for, or a value that is not 0 or 1, whose position and value are named.
    """
    _check_tensor(multihot)
    if multihot.dim() not in (1, 2):
        raise ValueError(f"multihot: expected shape (N, C) or (C), got {tuple(multihot.shape)}")
    if dtype not in (torch.int32, torch.int64):
        raise ValueError(f"dtype: expected torch.int32 or torch.int64, got {dtype}")
    is_label = multihot != 0
    _check_ones(multihot, is_label)
    rows = is_label if multihot.dim() == 2 else is_label.unsqueeze(0)
    counts = rows.sum(1)
    width = max(1, int(counts.max())) if len(counts) else 1
    labels = torch.full((len(rows), width), -1, dtype=dtype, device=multihot.device)
    row, label = rows.nonzero(as_tuple=True)
    first = counts.cumsum(0) - counts
    position = torch.arange(len(row), device=multihot.device) - first[row]
    labels[row, position] = label.to(dtype)
    return labels if multihot.dim() == 2 else labels[0]


def _check_tensor(multihot: Tensor) -> None:
    if not isinstance(multihot, Tensor):
        raise not_a_tensor("labels_from_multihot", "multihot", multihot)
    if multihot.layout != torch.strided:
        raise ValueError(f"multihot: expected a dense tensor, got {multihot.layout}; in CSR form its "
                         "crow_indices() and col_indices() are what multilabel_margin_loss_csr "
                         "takes for offsets and indices")
    if multihot.is_meta:
        raise ValueError("multihot: expected a tensor with data, got one on the device meta")


def _check_ones(multihot: Tensor, is_label: Tensor) -> None:
    if multihot.dtype == torch.bool:
        return
    wrong = is_label & (multihot != 1)
    if wrong.any():
        position = tuple(wrong.nonzero()[0].tolist())
        raise ValueError(f"multihot: expected 0 or 1, got {multihot[position].item()} at position "
                         f"{list(position)}")
