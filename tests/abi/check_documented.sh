#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_documented.sh <page>
#
# Checks that the page names every exported C function of symbols/*.txt.
set -euo pipefail

page=$1
symbols=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/symbols
status=0

if [[ ! -f ${page} ]]; then
  echo "${page} is missing" >&2
  exit 1
fi
for list in "${symbols}"/lib*.txt; do
  [[ ${list} == *.cxx.txt ]] && continue
  library=$(basename "${list}" .txt)
  while read -r function; do
    grep -qw -- "${function}" "${page}" && continue
    echo "${page} does not name ${function} of ${library}" >&2
    status=1
  done <"${list}"
done
exit "${status}"
