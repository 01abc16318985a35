#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_baseline.sh <library>
#
# Checks that a library for x86-64 runs on the oldest such CPU: instructions beyond SSE2 stand in
# functions of Highway's namespaces alone, which are called once the CPU was asked, and not beyond
# what the namespace is for.
set -euo pipefail

"${OBJDUMP:-objdump}" -d --no-show-raw-insn "$1" | awk '
  # What a function may use: 0 SSE2, 1 up to SSE4 with its company, 2 AVX2, 3 AVX-512.
  function level_of(symbol) {
    if (symbol ~ /9N_AVX3_DL|6N_AVX3/) return 3
    if (symbol ~ /6N_AVX2/) return 2
    return symbol ~ /7N_SSSE3|6N_SSE4/ ? 1 : 0
  }
  # And what an instruction needs. tzcnt is missing: compilers write it for bsf, and older CPUs read
  # it so.
  function level_needed(mnemonic) {
    if (/%zmm|%k[0-7]/) return 3
    if (mnemonic ~ /^v/ && mnemonic !~ /^ver/) return 2
    if (mnemonic ~ /^(andn|bextr|bls(i|r|msk)|bzhi|mulx|pdep|pext|rorx|sarx|sh[lr]x|lzcnt|movbe)[lq]?$/)
      return 2
    if (mnemonic ~ /^(pshufb|palignr|pabs[bwd]|ph(add|sub)|pmulhrsw|psign|pmaddubsw|lddqu|popcnt)/)
      return 1
    if (mnemonic ~ /^(movddup|movs[hl]dup|h(add|sub)p|addsubp|ptest|p?blend|round[sp][sd]|dpp[sd])/)
      return 1
    if (mnemonic ~ /^(p(min|max)(s[bd]|u[dw])|pextr[bdq]|pinsr[bdq]|insertps|extractps|pmov[sz]x)/)
      return 1
    if (mnemonic ~ /^(pcmp(eq|gt)q|pcmp[ei]str|pmuldq|pmulld|mpsadbw|packusdw|movntdqa|crc32)/)
      return 1
    return mnemonic ~ /^(aes(enc|dec|imc|keygen)|pclmul)/ ? 1 : 0
  }
  /^[0-9a-f]+ <.*>:$/ {
    symbol = $2
    allowed = level_of(symbol)
    ++functions[allowed]
    next
  }
  /^ / {
    ++instructions
    needed = level_needed($2)
    if (needed > seen) seen = needed
    if (needed > allowed && ++wrong <= 10) print symbol " has " $0
  }
  END {
    printf "%d instructions; functions for SSE2: %d, SSSE3 and SSE4: %d, AVX2: %d, AVX-512: %d\n",
           instructions, functions[0], functions[1], functions[2], functions[3]
    if (instructions == 0) print "nothing was disassembled"
    # A list that knows no vector instruction would find none anywhere.
    if (functions[3] > 0 && seen < 3) print "no AVX-512 instruction was found in functions for it"
    exit wrong > 0 || instructions == 0 || (functions[3] > 0 && seen < 3)
  }'
