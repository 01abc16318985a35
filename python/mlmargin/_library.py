# SPDX-License-Identifier: Apache-2.0
"""Loads the extension, which registers the operators with PyTorch."""

from pathlib import Path

import torch


def _load() -> None:
    folder = Path(__file__).parent
    # setuptools puts the interpreter's name into the file's.
    libraries = sorted(folder.glob("_torch*.so"))
    if not libraries:
        raise ImportError(f"mlmargin: there is no extension _torch*.so in {folder}: "
                          "build it with CMake or with pip install ./python")
    try:
        torch.ops.load_library(str(libraries[0]))
    except OSError as error:
        raise ImportError(f"mlmargin: {libraries[0]} does not load with torch {torch.__version__}: "
                          f"{error}") from error


_load()
operators = torch.ops.mlmargin
