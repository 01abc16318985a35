# SPDX-License-Identifier: Apache-2.0
"""The ways to name a reduction."""

import warnings
from typing import Optional, Union

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def reduction_number(reduction: str) -> int:
    """The operators' number of a reduction; ValueError unless it is none, mean or sum."""
    if not isinstance(reduction, str) or reduction not in _NUMBERS:
        raise ValueError(f"reduction: expected 'none', 'mean' or 'sum', got {reduction!r}")
    return _NUMBERS[reduction]


def choose_reduction(size_average: Union[None, bool, str], reduce: Optional[bool],
                     reduction: str) -> str:
    """The reduction that PyTorch's arguments mean: the two deprecated ones win if given.

    A string in the first place is the reduction, for calls that leave the deprecated ones out.
    """
    if isinstance(size_average, str):
        if reduction not in ("mean", size_average):
            raise TypeError(f"reduction: given twice, as {size_average!r} and {reduction!r}")
        return size_average
    if size_average is None and reduce is None:
        return reduction
    chosen = "mean"
    if reduce is not None and not reduce:
        chosen = "none"
    elif size_average is not None and not size_average:
        chosen = "sum"
    warnings.warn(f"size_average and reduce are deprecated, use reduction={chosen!r} instead",
                  stacklevel=3)
    return chosen
