# SPDX-License-Identifier: Apache-2.0
"""What is said of arguments that are no tensors: the dispatcher's own words help nobody."""

from typing import Any

from torch import Tensor


def _kind(value: Any) -> str:
    package = type(value).__module__.split(".")[0]
    return type(value).__name__ if package == "builtins" else f"{package}.{type(value).__name__}"


def _advice(name: str, value: Any) -> str:
    if is_sparse_matrix(value):
        if name in ("input", "local_input"):
            return "scores are dense"
        return ("multilabel_margin_loss_csr(input, matrix.indptr, matrix.indices) takes the labels "
                "of a matrix in CSR form, which matrix.tocsr() makes")
    if _kind(value) == "numpy.ndarray":
        return "torch.from_numpy(array) is one, of the same memory"
    return "torch.tensor makes one"


def is_sparse_matrix(value: Any) -> bool:
    """Whether it is one of SciPy's, in any form."""
    return hasattr(value, "tocsr")


def not_a_tensor(function: str, name: str, value: Any) -> TypeError:
    return TypeError(f"{function}: {name} must be a Tensor, got {_kind(value)}; "
                     f"{_advice(name, value)}")


def check_tensors(**arguments: Any) -> None:
    """For a call that has failed: raises a TypeError if one of its arguments is no tensor."""
    for name, value in arguments.items():
        if not isinstance(value, Tensor):
            raise not_a_tensor("multilabel_margin_loss", name, value) from None
