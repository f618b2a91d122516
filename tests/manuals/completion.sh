#!/bin/bash
# Completes command lines as bash does, and compares what is offered with what --help tells.
#
# Usage: tests/manuals/completion.sh COMPLETION
#
# RDMABLK_BIN is where the programs lie. Exit status: 77 when bash-completion is not installed.
set -euo pipefail

library=/usr/share/bash-completion/bash_completion
[[ -r $library ]] || exit 77
PATH=${RDMABLK_BIN:?}:$PATH
# Neither is written for these.
set +eu
# shellcheck disable=SC1090
source "$library"
# shellcheck disable=SC1090
source "$1"
set -u

# Prints what is offered for a command line whose last word the cursor is at.
offered() { # WORD...
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMP_LINE=$*
  COMP_POINT=${#COMP_LINE}
  COMPREPLY=()
  "_rdmablk" "$1" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
  printf '%s\n' "${COMPREPLY[@]}"
}

failed=0
expect() { # EXPECTED WORD...
  local expected=$1 found
  shift
  found=$(offered "$@" | sort | tr '\n' ' ')
  [[ $found == "$expected " ]] && return
  printf '%s<TAB> offers "%s", not "%s"\n' "$*" "$found" "$expected" >&2
  failed=1
}

expect 'devices' rdmablk dev
expect '--json' rdmablk list --js
expect '--can' rdmablk info rdmablk://host/disk --ca
expect 'debug' rdmablk-target --log-level d
expect '--show-paths' rdmablk-target --export a=memory:1M --show
expect '--foreground' rdmablk-fuse --fore
expect 'timeouts' rdmablk timeo
exit "$failed"
