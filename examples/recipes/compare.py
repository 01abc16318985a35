# SPDX-License-Identifier: Apache-2.0
"""Compares what an NPU made with golden data.

Usage: compare.py <folder of golden.py> <folder with the same files from the NPU>

A loss may differ by some steps of its type, since an NPU adds up in another order; the mask may not
differ at all. Exit status 1 if something does.
"""

import sys
from pathlib import Path

import numpy as np

# Of a loss, relative: 2^-13 for float32, and 4 steps of the narrow types.
TOLERANCE = {"float32": 2.0**-13, "float16": 2.0**-8, "bfloat16": 2.0**-5}


def load(path, name):
    if name == "bfloat16":
        return (np.fromfile(path, np.uint16).astype(np.uint32) << 16).view(np.float32)
    return np.fromfile(path, name).astype(np.float64)


def main():
    golden, other = map(Path, sys.argv[1:])
    wrong = 0
    files = sorted(golden.glob("*/mask.bin")) + sorted(golden.glob("*/loss_*.bin"))
    if not files:
        sys.exit(f"{golden}: it has no golden data")
    for path in files:
        name, file = path.parts[-2:]
        expected, got = load(path, name), load(other / name / file, name)
        if expected.shape != got.shape:
            sys.exit(f"{name}/{file}: expected {expected.size} numbers, got {got.size}")
        tolerance = 0 if file == "mask.bin" else TOLERANCE[name]
        with np.errstate(invalid="ignore"):
            near = np.abs(got - expected) <= tolerance * np.abs(expected)
        # Infinities have no distance, not even to themselves.
        bad = np.flatnonzero(~(np.where(np.isfinite(expected), near, got == expected)))
        if bad.size:
            wrong += 1
            print(f"{name}/{file}: {bad.size} of {got.size} differ; number {bad[0]} is {got[bad[0]]},"
                  f" expected {expected[bad[0]]}")
    print("all is equal or near enough" if wrong == 0 else f"{wrong} files differ")
    sys.exit(wrong != 0)


main()
