#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layout_test.sh <prefix> <source's include folder> <build folder> <source's Python package>
#
# An installation holds what design asks for and nothing else, and does not know where it is. The
# last argument is empty where the package was not built.
set -euo pipefail

prefix=$1
include=$2
build=$3
package=${4:-}
status=0

fail() {
  echo "$*" >&2
  status=1
}

diff -r "${include}" "${prefix}/include" >&2 || fail "include/ is not the source's"

expected='./bin/mlmargin
./lib64/libacl_rt.so
./lib64/libascendcl.so
./lib64/libmlmargin.so
./lib64/libnnopbase.so
./lib64/libopapi.so
./lib64/libopapi_math.so
./lib64/libopapi_nn.so
./lib64/pkgconfig/mlmargin-aclnn.pc
./lib64/pkgconfig/mlmargin.pc
./set_env.sh
./share/bash-completion/completions/mlmargin
./share/cmake/mlmargin/mlmarginConfig.cmake
./share/cmake/mlmargin/mlmarginConfigVersion.cmake
./share/cmake/mlmargin/mlmarginTargets-CONFIG.cmake
./share/cmake/mlmargin/mlmarginTargets.cmake
./share/man/man1/mlmargin.1
./share/zsh/site-functions/_mlmargin'
if [[ -n ${package} ]]; then
  expected+=$(
    echo
    cd "${package}"
    printf './lib64/python/mlmargin/%s\n' _torch.so *.py
  )
fi
found=$(cd "${prefix}" && find . -not -type d -not -path './include/*' |
  sed 's/mlmarginTargets-[a-z]*\.cmake/mlmarginTargets-CONFIG.cmake/' | LC_ALL=C sort)
diff <(LC_ALL=C sort <<<"${expected}") <(echo "${found}") >&2 || fail "files that differ from the list"

for link in libacl_rt.so:libascendcl.so libopapi.so:libopapi_nn.so libopapi_math.so:libopapi_nn.so
do
  target=$(readlink "${prefix}/lib64/${link%:*}" || true)
  [[ ${target} == "${link#*:}" ]] || fail "lib64/${link%:*} leads to '${target}'"
done

for library in "${prefix}"/lib64/lib*.so; do
  run_path=$(readelf -d "${library}" | sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\].*/\2/p')
  # shellcheck disable=SC2016  # The loader, not the shell, knows $ORIGIN.
  [[ ${run_path} == '$ORIGIN' ]] || fail "${library}: its run path is '${run_path}'"
done
if [[ -n ${package} ]]; then
  # shellcheck disable=SC2016
  readelf -d "${prefix}/lib64/python/mlmargin/_torch.so" | grep -qF '[$ORIGIN/../..]' ||
    fail "_torch.so: its run path is not \$ORIGIN/../.."
fi

# Text files only: with debug information the libraries name their sources.
if grep -rIl -e "${prefix}" -e "${build}" "${prefix}"; then
  fail "the files above name the prefix or the build folder"
fi
exit "${status}"
