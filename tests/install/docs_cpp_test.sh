#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs_cpp_test.sh <prefix> <page>
#
# The whole programs among the C++ examples of a page build against an installed copy and return 0.
set -euo pipefail

prefix=$(cd "$1" && pwd)
page=$2
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
export PKG_CONFIG_PATH=${prefix}/lib64/pkgconfig
read -ra flags < <(pkg-config --cflags --libs mlmargin)

awk -v folder="${work}" '
  /^```cpp$/ { file = sprintf("%s/%02d.cc", folder, ++count); next }
  /^```$/    { file = "" }
  file != "" { print > file }' "${page}"

programs=0
for source in "${work}"/*.cc; do
  grep -q '^int main' "${source}" || continue
  "${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror "${source}" -o "${source%.cc}" "${flags[@]}"
  if ! LD_LIBRARY_PATH=${prefix}/lib64 "${source%.cc}"; then
    cat "${source}" >&2
    exit 1
  fi
  programs=$((programs + 1))
done
((programs >= 2))
echo "${programs} programs"
