#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# aclnn_sample_test.sh <install prefix>
#
# Builds examples/aclnn_sample against an installed copy in the ways that users do, and compares
# what it prints.
set -euo pipefail

prefix=$(cd "$1" && pwd)
sample=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../examples/aclnn_sample" && pwd)
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
unset ASCEND_CUSTOM_PATH ASCEND_HOME_PATH LD_LIBRARY_PATH

expected='proper labels
  loss: 1.66667 0
  isTarget: 1 1 0 0 0 1
labels out of range
  loss: 0 0
  isTarget: 1 1 1 0 0 0'

# check <how it was built> <program>
check() {
  local printed
  printed=$("$2")
  if [[ ${printed} != "${expected}" ]]; then
    printf '%s: printed\n%s\ninstead of\n%s\n' "$1" "${printed}" "${expected}" >&2
    exit 1
  fi
  echo "$1: as expected"
}

# build_with_cmake <folder>: as the vendor's pages have it, with the environment at hand.
build_with_cmake() {
  if ! {
    cmake -S "${sample}" -B "$1" -DCMAKE_CXX_COMPILER=g++ -DCMAKE_SKIP_RPATH=TRUE
    cmake --build "$1"
  } >"$1.log" 2>&1; then
    cat "$1.log" >&2
    exit 1
  fi
}

# build_with <program> <library>...: in one line, with the libraries by full path.
build_with() {
  local program=$1
  shift
  g++ -std=c++11 -Wall -Wextra -Wconversion -Wshadow -Werror "${sample}/main.cpp" \
    -I"${prefix}/include" -I"${prefix}/include/aclnnop" "${@/#/${prefix}/lib64/}" -o "${program}"
}

(
  # shellcheck disable=SC1091  # It is installed.
  source "${prefix}/set_env.sh"
  build_with_cmake "${work}/set_env"
  check "after set_env.sh" "${work}/set_env/aclnn_sample"
)

export LD_LIBRARY_PATH=${prefix}/lib64
(
  export ASCEND_CUSTOM_PATH=${prefix}
  build_with_cmake "${work}/custom_path"
  check "with ASCEND_CUSTOM_PATH alone" "${work}/custom_path/aclnn_sample"
)

build_with "${work}/single" libascendcl.so libnnopbase.so libopapi.so
check "with the older libopapi.so" "${work}/single"
build_with "${work}/runtime" libacl_rt.so libnnopbase.so libopapi_math.so libopapi_nn.so
check "with the newer libacl_rt.so" "${work}/runtime"
