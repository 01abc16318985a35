# SPDX-License-Identifier: Apache-2.0
"""The loss as functions."""

from typing import TYPE_CHECKING, Optional, Union

import torch
from torch import Tensor

from ._arguments import check_tensors, is_sparse_matrix
from ._library import operators
from ._reduction import choose_reduction, reduction_number

if TYPE_CHECKING:
    import numpy


def multilabel_margin_loss(input: Tensor, target: Tensor,
                           size_average: Union[None, bool, str] = None,
                           reduce: Optional[bool] = None, reduction: str = "mean", *,
                           padded: bool = False) -> Tensor:
    """The multilabel margin loss, as ``torch.nn.functional.multilabel_margin_loss``.

    Args:
        input: scores of shape (N, C), (C) or (), float32, float16, bfloat16 or float64, of any
            strides; C >= 1, N >= 0.
        target: label lists of the shape of ``input``, int32 or int64. A row's labels are its
            entries before the first -1; what comes after it is not read. A label listed twice
            counts twice.
        size_average, reduce: deprecated, as in PyTorch. A string in the third place is taken for
            the reduction.
        reduction: 'none' gives the loss of each row, 'mean' their mean, 'sum' their sum.
        padded: lets ``target`` have any number of columns: (N, K) for an input (N, C), (K) for an
            input (C). A list ends at its first -1 or at the end of its row.

    Returns:
        The loss, in the type of ``input``: of shape (N) for 'none' of a batch, else (). Of an empty
        batch the sum is 0 and the mean nan.

    Differentiable by ``input``, any number of times: the second derivative is zero. Under
    ``torch.autocast`` for the CPU it is computed in float32.

    Raises:
        RuntimeError: for a wrong type, shape or device, and for a label outside [0, C).
        TypeError: for what is no tensor.
        ValueError: for an unknown reduction.
    """
    chosen = choose_reduction(size_average, reduce, reduction)
    try:
        return operators.loss(input, target, reduction_number(chosen), padded)
    except RuntimeError:
        check_tensors(input=input, target=target)
        raise


def multilabel_margin_loss_csr(input: Tensor, offsets: Union[Tensor, "numpy.ndarray"],
                               indices: Union[None, Tensor, "numpy.ndarray"] = None,
                               reduction: str = "mean") -> Tensor:
    """The same loss for label lists without padding, as a sparse matrix in CSR form has them.

    Args:
        input: as for ``multilabel_margin_loss``.
        offsets: N + 1 numbers, int32 or int64: the labels of row n are ``indices[offsets[n]]`` to
            ``indices[offsets[n + 1] - 1]``. ``indptr`` of a SciPy matrix. An input (C) or () is one
            row.
        indices: the labels of all rows, int32 or int64; required, its default only has words.
            ``indices`` of a SciPy matrix; its values do not matter. A list also ends at a -1.
        reduction: as for ``multilabel_margin_loss``.

    Tensors and NumPy arrays are read where they lie; only those that are not contiguous, and arrays
    that are read-only, are copied.
    Nothing is allocated in proportion to the classes but, in backward, the gradient.

    Raises:
        RuntimeError: for a wrong type, shape or device, for offsets that fall or leave ``indices``,
            and for a label outside [0, C).
        TypeError: for an array of another type, a sparse matrix in the place of its arrays, indices
            that are missing, and an input that is no tensor.
        ValueError: for an unknown reduction.
    """
    labels = _as_tensor(offsets, "offsets"), _as_tensor(indices, "indices")
    try:
        return operators.loss_csr(input, *labels, reduction_number(reduction))
    except RuntimeError:
        check_tensors(input=input)
        raise


def _as_tensor(array: Union[Tensor, "numpy.ndarray"], name: str) -> Tensor:
    if isinstance(array, Tensor):
        if array.layout == torch.strided:
            return array
        raise TypeError(f"{name}: expected a dense tensor or a NumPy array, got {array.layout}; in "
                        "CSR form its crow_indices() are what offsets, its col_indices() what "
                        "indices want")
    if is_sparse_matrix(array):
        raise TypeError(f"{name}: expected a tensor or a NumPy array, got a sparse matrix; in "
                        "CSR form its indptr is what offsets, its indices what indices want")
    kind = str(getattr(array, "dtype", type(array).__name__))
    if kind not in ("int32", "int64"):
        raise TypeError(f"{name}: expected a tensor or a NumPy array of int32 or int64, got {kind}")
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        # PyTorch has no tensors of such memory.
        array = array.copy()
    return torch.from_numpy(array)
