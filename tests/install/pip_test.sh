#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pip_test.sh <prefix> <python> <source's python folder>
#
# pip builds the package, without network, against an installation, and says what it misses.
set -euo pipefail

prefix=$(cd "$1" && pwd)
python=$2
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH LD_LIBRARY_PATH ASCEND_HOME_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH

# A copy: pip builds in the folder, and the rest of the source tree must not help.
cp -r "$3" "${work}/python"
cd "${work}"

# install <folder> <environment>...
install() {
  local target=$1
  shift
  env "$@" "${python}" -m pip install --no-build-isolation --no-deps --no-index \
    --target "${target}" ./python >log 2>&1
}

if install nothing MLMARGIN_HOME="${work}"; then
  echo "MLMARGIN_HOME without mlmargin: was accepted" >&2
  exit 1
fi
grep -q "MLMARGIN_HOME=${work} has no" log || { cat log >&2; exit 1; }
if install nothing; then
  echo "no mlmargin at all: was accepted" >&2
  exit 1
fi
grep -q "found neither an installed mlmargin" log || { cat log >&2; exit 1; }

install packages MLMARGIN_HOME="${prefix}" || { cat log >&2; exit 1; }
PYTHONPATH=${work}/packages "${python}" -c '
import torch, mlmargin
loss = mlmargin.multilabel_margin_loss(torch.tensor([[0.5, 1.0]]), torch.tensor([[0, -1]]))
assert loss.item() == 0.75, loss
'
