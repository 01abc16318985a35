# SPDX-License-Identifier: Apache-2.0
"""This package's loss in the place of PyTorch's."""

import functools
from typing import Optional

import torch
from torch import Tensor

from .functional import multilabel_margin_loss

_original = torch.nn.functional.multilabel_margin_loss


def _is_ours(tensor: object) -> bool:
    # A subclass may have a loss of its own, which PyTorch's function asks for.
    return (type(tensor) in (Tensor, torch.nn.Parameter) and tensor.device.type == "cpu"
            and tensor.layout == torch.strided)


@functools.wraps(_original)
def _patched(input: Tensor, target: Tensor, size_average: Optional[bool] = None,
             reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    function = multilabel_margin_loss if _is_ours(input) and _is_ours(target) else _original
    return function(input, target, size_average, reduce, reduction)


def patch() -> None:
    """Lets ``torch.nn.functional.multilabel_margin_loss``, and with it
    ``torch.nn.MultiLabelMarginLoss``, call this package for CPU tensors.

    What is not a dense CPU tensor goes to PyTorch's own. A second call changes nothing. Code that
    imported the function by name before keeps PyTorch's.
    """
    torch.nn.functional.multilabel_margin_loss = _patched


def unpatch() -> None:
    """Undoes ``patch()``; without one it does nothing."""
    if is_patched():
        torch.nn.functional.multilabel_margin_loss = _original


def is_patched() -> bool:
    """Whether ``patch()`` is in force."""
    return torch.nn.functional.multilabel_margin_loss is _patched
