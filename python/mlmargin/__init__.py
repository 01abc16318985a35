# SPDX-License-Identifier: Apache-2.0
"""The multilabel margin loss for PyTorch on CPUs.

``multilabel_margin_loss`` and ``MultiLabelMarginLoss`` stand in for PyTorch's own; ``patch()`` puts
them in its place. Beyond those there are label lists of any length (``padded=True``) or without
padding (``multilabel_margin_loss_csr``), and classes spread over processes
(``sharded_multilabel_margin_loss``).
"""

from ._library import operators as _operators
from .functional import multilabel_margin_loss, multilabel_margin_loss_csr
from .labels import labels_from_multihot
from .modules import MultiLabelMarginLoss
from .patching import is_patched, patch, unpatch
from .sharded import part_classes, sharded_multilabel_margin_loss

__version__: str = _operators.version()

__all__ = [
    "MultiLabelMarginLoss",
    "is_patched",
    "labels_from_multihot",
    "multilabel_margin_loss",
    "multilabel_margin_loss_csr",
    "part_classes",
    "patch",
    "sharded_multilabel_margin_loss",
    "unpatch",
]
