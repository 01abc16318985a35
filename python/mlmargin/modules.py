# SPDX-License-Identifier: Apache-2.0
"""The loss as a module."""

from typing import Optional, Union

import torch
from torch import Tensor

from ._reduction import choose_reduction, reduction_number
from .functional import multilabel_margin_loss


class MultiLabelMarginLoss(torch.nn.MultiLabelMarginLoss):
    """``torch.nn.MultiLabelMarginLoss`` with this package's ``multilabel_margin_loss``.

    Args:
        size_average, reduce, reduction, padded: as for the function.

    Shape: input (N, C), (C) or (), target as for the function; the loss is (N) for 'none' of a
    batch, else ().
    """

    def __init__(self, size_average: Union[None, bool, str] = None, reduce: Optional[bool] = None,
                 reduction: str = "mean", *, padded: bool = False) -> None:
        chosen = choose_reduction(size_average, reduce, reduction)
        reduction_number(chosen)  # Now, rather than at the first call.
        super().__init__(reduction=chosen)
        self.padded = padded

    def extra_repr(self) -> str:
        return "padded=True" if self.padded else ""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return multilabel_margin_loss(input, target, reduction=self.reduction, padded=self.padded)
