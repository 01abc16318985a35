#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# any_cpu_test.sh <program>
#
# Runs any_cpu on emulated x86-64 CPUs, from one that has nothing beyond SSE3: it must find the best
# target of each and give the same results. Ends with 77 where there is no emulator.
set -euo pipefail

program=$1
emulator=$(command -v qemu-x86_64 || command -v qemu-x86_64-static || true)
if [[ -z ${emulator} ]]; then
  echo "skipped: needs qemu-x86_64, of Debian's package qemu-user"
  exit 77
fi

read -r native expected < <("${program}")
echo "this machine: ${native} ${expected}"
status=0
while read -r cpu targets; do
  # The emulator warns of features that it does not have; a program that fails prints nothing.
  result=$("${emulator}" -cpu "${cpu}" "${program}" 2>/dev/null || true)
  echo "${cpu}: ${result}"
  if [[ ! ${result} =~ ^(${targets})\ ${expected}$ ]]; then
    echo "${cpu} should give ${targets} ${expected}" >&2
    status=1
  fi
done <<'END'
qemu64 SCALAR|EMU128
core2duo SSSE3
Westmere SSE4
Haswell AVX2
END
exit "${status}"
