#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python_test.sh <prefix> <python>
#
# The PyTorch package of an installation, also of one that was moved, works after set_env.sh.
set -euo pipefail

python=$2
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH LD_LIBRARY_PATH

# check <prefix>
check() (
  cd /
  # shellcheck disable=SC1091  # It is installed.
  source "$1/set_env.sh"
  "${python}" - "$1" <<'PROGRAM'
import os
import sys

import torch

import mlmargin

assert os.path.samefile(mlmargin.__file__, sys.argv[1] + "/lib64/python/mlmargin/__init__.py")
scores = torch.tensor([[0.75, -0.5, 0.25, 0.0, -1.0]], requires_grad=True)
loss = mlmargin.multilabel_margin_loss(scores, torch.tensor([[1, 3, -1, -1, -1]]))
loss.backward()
assert loss.item() == 1.5, loss
with open("/proc/self/maps") as maps:
    libraries = {line.split(maxsplit=5)[5].strip() for line in maps if "libmlmargin.so" in line}
assert libraries == {os.path.realpath(sys.argv[1] + "/lib64/libmlmargin.so")}, libraries
PROGRAM
)

prefix=$(cd "$1" && pwd)
check "${prefix}"
mkdir "${work}/another place"
cp -a "${prefix}/." "${work}/another place"
check "${work}/another place"
