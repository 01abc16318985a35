# SPDX-License-Identifier: Apache-2.0
"""Makes inputs for an accuracy test on an NPU, and what must come out.

Usage: golden.py <new folder>

For each data type a folder with raw little-endian arrays, as aclnn tests read them: scores.bin,
labels.bin (int64, padded by -1), mask.bin, and loss_none.bin, loss_mean.bin and loss_sum.bin. The
command mlmargin computes them, exact to 1 ulp of the data type.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

ROWS, CLASSES, MOST_LABELS = 37, 1000, 9
TYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": np.uint16}


def encode(scores, name):
    """The numbers in that type; of bfloat16 the bits, rounded to nearest even."""
    if name != "bfloat16":
        return scores.astype(TYPES[name])
    bits = scores.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def main():
    folder = Path(sys.argv[1])
    random = np.random.default_rng(1)
    labels = np.full((ROWS, CLASSES), -1)
    for row in labels:
        count = random.integers(0, MOST_LABELS + 1)
        row[:count] = random.permutation(CLASSES)[:count]
    scores = random.standard_normal((ROWS, CLASSES))
    for name in TYPES:
        data = folder / name
        data.mkdir(parents=True)
        files = {"scores": encode(scores, name), "labels": labels}
        for file, array in files.items():
            np.save(data / f"{file}.npy", array)
        for reduction in "none", "mean", "sum":
            subprocess.run(["mlmargin", "loss", "scores.npy", "labels.npy", "--reduction", reduction,
                            "--output", f"loss_{reduction}.npy", "--mask", "mask.npy"],
                           cwd=data, check=True)
        for path in data.glob("*.npy"):
            np.load(path).tofile(path.with_suffix(".bin"))
            path.unlink()
    print(f"{folder}: {ROWS} x {CLASSES}, at most {MOST_LABELS} labels a row; {', '.join(TYPES)}")


main()
