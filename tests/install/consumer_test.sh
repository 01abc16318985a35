#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# consumer_test.sh <prefix>
#
# Builds and runs the programs in consumer/ against an installed copy, found in three ways: by
# find_package, by pkg-config, and by find_package after set_env.sh.
set -euo pipefail

prefix=$(cd "$1" && pwd)
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")/consumer" && pwd)
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
cmake=${CMAKE:-cmake}
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
unset ASCEND_HOME_PATH ASCEND_CUSTOM_PATH ASCEND_OPP_PATH

version=$(sed -n 's/#define MLMARGIN_VERSION_[A-Z]* //p' "${prefix}/include/mlmargin/version.h" |
  paste -sd .)

# build_with_cmake <folder> [<cmake option>...]: then runs what was built.
build_with_cmake() {
  local folder=$1
  shift
  if ! {
    "${cmake}" -S "${consumer}" -B "${folder}" "-DMLMARGIN_VERSION=${version}" "$@" &&
      "${cmake}" --build "${folder}"
  } >"${folder}.log" 2>&1; then
    cat "${folder}.log" >&2
    exit 1
  fi
  "${folder}/consumer_aclnn"
  "${folder}/consumer_aclnn_all"
  "${folder}/consumer_kernel"
}

# build_with_pkg_config <package> <program> <compiler> <argument>...: then runs it.
build_with_pkg_config() {
  local package=$1 program=$2
  shift 2
  local flags
  pkg-config --validate "${package}"
  flags=$(pkg-config --cflags --libs "${package}")
  eval "flags=(${flags})" # They are quoted for a shell.
  "$@" -o "${program}" "${flags[@]}"
  LD_LIBRARY_PATH="${prefix}/lib64" "${program}"
}

echo "find_package with CMAKE_PREFIX_PATH"
build_with_cmake "${work}/find_package" "-DCMAKE_PREFIX_PATH=${prefix}"

echo "pkg-config"
(
  export PKG_CONFIG_PATH=${prefix}/lib64/pkgconfig
  build_with_pkg_config mlmargin-aclnn "${work}/aclnn" "${CC:-cc}" -std=c99 "${consumer}/aclnn.c"
  build_with_pkg_config mlmargin "${work}/kernel" "${CXX:-c++}" -std=c++17 "${consumer}/kernel.cc"
  [[ $(pkg-config --modversion mlmargin) == "${version}" ]]
)

echo "find_package after set_env.sh, without run paths"
(
  # shellcheck disable=SC1091  # It is installed.
  source "${prefix}/set_env.sh"
  build_with_cmake "${work}/set_env" -DCMAKE_SKIP_RPATH=TRUE
)
