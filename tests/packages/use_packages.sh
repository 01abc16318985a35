#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# use_packages.sh <root> <version>
#
# Uses installed packages as their users do. In their own root, which is "", no variable is set: all
# must be found where Debian looks. Needs the folder consumer beside it.
set -euo pipefail

root=$1
version=$2
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")/consumer" && pwd)
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
cd "${work}"

die() {
  echo "$*" >&2
  exit 1
}

echo "The command"
[[ $(mlmargin --version) == "mlmargin ${version}" ]] || die "mlmargin --version: $(mlmargin --version)"
/usr/bin/python3 -c '
import numpy as np
np.save("scores.npy", np.array([[0.1, 0.2, 0.4, 0.8]], np.float32))
np.save("labels.npy", np.array([[3, 0]]))'
mlmargin loss scores.npy labels.npy --reduction none --output loss.npy
/usr/bin/python3 -c '
import numpy as np
assert abs(np.load("loss.npy")[0] - 0.85) < 1e-6, np.load("loss.npy")'

echo "find_package"
cmake -S "${consumer}" -B build "-DMLMARGIN_VERSION=${version}" >log 2>&1 || { cat log; exit 1; }
cmake --build build >log 2>&1 || { cat log; exit 1; }
grep -q "^mlmargin_DIR:PATH=${root}/usr/share/cmake/mlmargin\$" build/CMakeCache.txt ||
  die "$(grep mlmargin_DIR build/CMakeCache.txt)"
for program in consumer_aclnn consumer_aclnn_all consumer_kernel; do
  "build/${program}"
done
if cmake -S "${consumer}" -B other -DMLMARGIN_VERSION=9.9.9 >log 2>&1; then
  die "find_package found a version that is not there"
fi

echo "pkg-config"
[[ $(pkg-config --modversion mlmargin) == "${version}" ]] || die "pkg-config: another version"
read -ra flags < <(pkg-config --cflags --libs mlmargin)
g++ -std=c++17 "${consumer}/kernel.cc" "${flags[@]}" -o kernel
./kernel
read -ra flags < <(pkg-config --cflags --libs mlmargin-aclnn)
gcc -std=c99 "${consumer}/aclnn.c" "${flags[@]}" -o aclnn

# Libraries with CANN's names are for those who ask: a CANN beside them is not disturbed.
for name in libascendcl libacl_rt libnnopbase libopapi libopapi_nn libopapi_math; do
  found=$(ldconfig -p 2>/dev/null | grep "/mlmargin/.*${name}.so" || true)
  [[ -z ${found} ]] || die "the loader finds ${found} without set_env.sh"
done
if ./aclnn >log 2>&1; then
  die "an aclnn program found its libraries without set_env.sh"
fi
(
  # shellcheck disable=SC1091  # It is installed.
  . "${root}/usr/lib/mlmargin/set_env.sh"
  ./aclnn
)

echo "Python"
/usr/bin/python3 - "${root}" "${version}" <<'PROGRAM'
import sys

import torch

import mlmargin

root, version = sys.argv[1:]
assert mlmargin.__version__ == version, mlmargin.__version__
assert mlmargin.__file__ == root + "/usr/lib/python3/dist-packages/mlmargin/__init__.py"
scores = torch.tensor([[0.75, -0.5, 0.25, 0.0, -1.0]], requires_grad=True)
loss = mlmargin.multilabel_margin_loss(scores, torch.tensor([[1, 3, -1, -1, -1]]))
loss.backward()
assert loss.item() == 1.5, loss
PROGRAM
