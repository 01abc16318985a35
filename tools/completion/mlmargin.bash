# SPDX-License-Identifier: Apache-2.0
# bash completion for mlmargin                                             -*- shell-script -*-

_mlmargin() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local files='--offsets --multihot --json --help'
  local words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words='loss check bench info --version --help'
  else
    case ${COMP_WORDS[1]} in
      loss) words="--reduction --output --mask --gradient --threads ${files}" ;;
      check) words=${files} ;;
      bench) words='--filter --threads --json --help' ;;
      info) words='--json --help' ;;
    esac
    # Where files go, they are what is wanted.
    [[ ${COMP_WORDS[1]} != @(loss|check) || ${current} == -* ]] || words=
    case ${previous} in
      --reduction) words='none mean sum' ;;
      --output | --mask | --gradient | --offsets) words= ;;
      --filter | --threads) return ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "${words}" -- "${current}")
  ((${#COMPREPLY[@]} == 0)) || return 0
  # Files, and folders on the way to them.
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -X '!*.np[yz]' -- "${current}"; compgen -d -- "${current}")
}
complete -F _mlmargin mlmargin
