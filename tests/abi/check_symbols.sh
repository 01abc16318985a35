#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_symbols.sh <library> [<link name>...]
#
# Checks what a built library shows to others: its SONAME is its file name, the link names beside
# it lead to it, and it defines exactly the C functions of symbols/<library>.txt and the C++ names
# of symbols/<library>.cxx.txt. Names of the private namespaces that the libraries share among
# themselves need no list.
set -euo pipefail

library=$1
shift
name=$(basename "${library}")
symbols=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/symbols
status=0

fail() {
  printf '%s: %s\n' "${name}" "$*" >&2
  status=1
}

# compare <what> <expected file or nothing> <found>
compare() {
  local difference
  if ! difference=$(diff <(LC_ALL=C sort "${2:-/dev/null}") <(LC_ALL=C sort <<<"$3" | sed '/^$/d'))
  then
    fail "$1: < is listed and missing, > is exported and not listed"$'\n'"${difference}"
  fi
}

soname=$("${READELF:-readelf}" -d "${library}" | sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p')
[[ ${soname} == "${name}" ]] || fail "SONAME is '${soname}', not ${name}"

for link in "$@"; do
  target=$(readlink "$(dirname "${library}")/${link}" || true)
  [[ ${target} == "${name}" ]] || fail "${link} leads to '${target}', not to ${name}"
done

# C++ symbols are mangled; the functions of the C API never begin with _Z.
defined=$("${NM:-nm}" -D --defined-only --format=posix "${library}" | cut -d ' ' -f 1)
c_names=$(grep -v '^_Z' <<<"${defined}" || true)
cxx_names=$(grep '^_Z' <<<"${defined}" | c++filt |
  grep -Ev '^mlmargin::(runtime|nnopbase|environment)::' || true)

c_list=${symbols}/${name%.so}.txt
cxx_list=${symbols}/${name%.so}.cxx.txt
compare "C functions" "$([[ -f ${c_list} ]] && echo "${c_list}")" "${c_names}"
compare "C++ names" "$([[ -f ${cxx_list} ]] && echo "${cxx_list}")" "${cxx_names}"
exit "${status}"
