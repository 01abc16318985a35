# SPDX-License-Identifier: Apache-2.0
"""Makes inputs for an accuracy test on an NPU, and what must come out.

For each data type a folder with raw little-endian arrays, as aclnn tests read them: scores.bin,
labels.bin (int64, padded by -1), mask.bin, and loss_none.bin, loss_mean.bin and loss_sum.bin. The
command mlmargin computes them, exact to 1 ulp of the data type.
"""

import argparse
import subprocess
from pathlib import Path

import numpy as np

TYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": np.uint16}


def encode(scores, name):
    """The numbers in that type; of bfloat16 the bits, rounded to nearest even."""
    if name != "bfloat16":
        return scores.astype(TYPES[name])
    bits = scores.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a new one")
    parser.add_argument("--rows", type=int, default=37)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--labels", type=int, default=9, help="the most that a row has")
    args = parser.parse_args()
    if not (args.rows >= 1 and 0 <= args.labels <= args.classes and args.classes >= 1):
        parser.error("expected at least one row and class, and no more labels than classes")

    random = np.random.default_rng(1)
    labels = np.full((args.rows, args.classes), -1)
    for row in labels:
        count = random.integers(0, args.labels + 1)
        row[:count] = random.permutation(args.classes)[:count]
    scores = random.standard_normal((args.rows, args.classes))
    for name in TYPES:
        data = args.folder / name
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
    print(f"{args.folder}: {args.rows} x {args.classes}, at most {args.labels} labels a row; "
          f"{', '.join(TYPES)}")


main()
