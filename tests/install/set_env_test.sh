#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# set_env_test.sh <prefix>
#
# set_env.sh can be sourced in the shells at hand, with the strictest options, more than once and
# from anywhere, and says which copy it belongs to.
set -euo pipefail

prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
status=0

# check <what> <expected> <found>
check() {
  [[ $2 == "$3" ]] && return 0
  printf '%s:\n  expected %s\n  found    %s\n' "$1" "$2" "$3" >&2
  status=1
}

# A second copy, in a folder with a space; set_env.sh looks for the library beside it.
other="${work}/other copy"
mkdir -p "${other}/lib64/python"
cp "${prefix}/set_env.sh" "${other}"
touch "${other}/lib64/libascendcl.so"

unset ASCEND_HOME_PATH ASCEND_CUSTOM_PATH ASCEND_OPP_PATH
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH PYTHONPATH
export PREFIX=${prefix} OTHER=${other}

# Expanded by the shells under test.
# shellcheck disable=SC2016
{
  show='echo "${LD_LIBRARY_PATH}|${PKG_CONFIG_PATH}|${CMAKE_PREFIX_PATH}"'
  modules='echo "${PYTHONPATH-unset}"'
  libraries='echo "${LD_LIBRARY_PATH}"'
  first_program='echo "${PATH%%:*}"'
  homes='echo "${ASCEND_HOME_PATH}|${ASCEND_CUSTOM_PATH}|${ASCEND_OPP_PATH}"'
  source_prefix='. "${PREFIX}/set_env.sh"; '
  source_other='. "${OTHER}/set_env.sh"; '
  leftovers='set | grep -c "^_mlmargin" || :'
}
alone="${prefix}/lib64|${prefix}/lib64/pkgconfig|${prefix}"

# A third copy has no Python package, and leaves PYTHONPATH alone.
bare="${work}/bare"
mkdir -p "${bare}/lib64"
cp "${prefix}/set_env.sh" "${bare}"
touch "${bare}/lib64/libascendcl.so"

for shell in bash sh dash zsh; do
  command -v "${shell}" >/dev/null || continue
  run() { (cd / && "${shell}" -euc "$1" 2>&1) || echo "exit status $?"; }
  check "${shell}, folders" "${prefix}|${prefix}|${prefix}" "$(run "${source_prefix}${homes}")"
  check "${shell}, lists" "${alone}" "$(run "${source_prefix}${show}")"
  check "${shell}, programs" "${prefix}/bin" "$(run "${source_prefix}${first_program}")"
  check "${shell}, twice" "${alone}" "$(run "${source_prefix}${source_prefix}${show}")"
  check "${shell}, in a subshell" "${alone}" "$(run "(${source_prefix}${show})")"
  check "${shell}, relative" "${alone}" "$(run "cd '${prefix}'; . ./set_env.sh; ${show}")"
  check "${shell}, nothing left behind" "0" "$(run "${source_prefix}${leftovers}")"
  check "${shell}, another copy, and back" \
    "${prefix}/lib64:${other}/lib64:/lists" \
    "$(LD_LIBRARY_PATH=/lists run "${source_prefix}${source_other}${source_prefix}${libraries}")"
  check "${shell}, with the Python package" "${other}/lib64/python:/modules" \
    "$(PYTHONPATH=/modules run "${source_other}${source_other}${modules}")"
  check "${shell}, without it" "unset" "$(run ". '${bare}/set_env.sh'; ${modules}")"
  check "${shell}, a folder with a space" "${other}|${other}|${other}" \
    "$(run "${source_other}${homes}")"
done

# Torn from its installation it changes nothing and fails.
mkdir "${work}/torn"
cp "${prefix}/set_env.sh" "${work}/torn"
# shellcheck disable=SC2016
check "torn from its installation" "failed, unset" \
  "$(bash -uc '. "$1" 2>/dev/null || echo "failed, ${ASCEND_HOME_PATH-unset}"' - \
    "${work}/torn/set_env.sh")"
exit "${status}"
