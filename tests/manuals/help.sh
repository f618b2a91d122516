#!/bin/bash
# Checks that every program and every command tells how it is used and which version it is; and that a
# misspelt option or command is refused with the one that was meant.
#
# Usage: tests/manuals/help.sh VERSION
#
# RDMABLK_BIN is where the programs lie.
set -euo pipefail
# shellcheck source=tests/manuals/commands_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/commands_lib.sh"

version=$1
failed=0

complain() {
  printf '%s\n' "$*" >&2
  failed=1
}

# called NAME PROGRAM [ARGUMENT...]: runs a program by another name.
called() (
  name=$1
  shift
  exec -a "$name" "$@"
)

check_program() { # NAME PROGRAM
  local name=$1 text
  shift
  text=$(called "$name" "$@" --version) || complain "$name --version ends with status $?"
  [[ $text == "$name $version" ]] || complain "$name --version says '$text'"
  text=$(called "$name" "$@" --help) || complain "$name --help ends with status $?"
  [[ $text == *"Usage: $name"* ]] || complain "$name --help does not say how it is used: $text"
}

check_suggestion() { # EXIT-STATUS MEANT COMMAND...
  local expected=$1 meant=$2 text status=0
  shift 2
  text=$("$@" 2>&1) || status=$?
  [[ $status == "$expected" ]] || complain "'$*' ended with status $status, not $expected"
  [[ $text == *"do you mean '$meant'?"* ]] || complain "'$*' does not suggest $meant: $text"
}

rdmablk=$RDMABLK_BIN/rdmablk
check_program rdmablk "$rdmablk"
check_program rdmablk-target "$RDMABLK_BIN/rdmablk-target"
check_program rdmablk-fuse "$RDMABLK_BIN/rdmablk-fuse"
check_program mount.rdmablk "$RDMABLK_BIN/rdmablk-fuse"
check_program umount.rdmablk "$rdmablk"
while read -ra command; do
  text=$("$rdmablk" "${command[@]}" --help) || complain "rdmablk ${command[*]} --help ends with status $?"
  [[ $text == *"Usage: rdmablk ${command[*]} "* ]] || complain "rdmablk ${command[*]} --help does not say how it is used"
  text=$("$rdmablk" "${command[@]}" --version) || complain "rdmablk ${command[*]} --version ends with status $?"
  [[ $text == "rdmablk $version" ]] || complain "rdmablk ${command[*]} --version says '$text'"
done < <(commands_of)

check_suggestion 2 list "$rdmablk" lst
check_suggestion 2 --json "$rdmablk" list storage1 --jsn
check_suggestion 2 resize "$rdmablk" export resise disk 1G
check_suggestion 2 --export "$RDMABLK_BIN/rdmablk-target" --exprot disk=memory:1M --insecure
check_suggestion 2 --workers "$RDMABLK_BIN/rdmablk-fuse" rdmablk://storage1/disk /mnt --wokers 2
check_suggestion 2 --queue-depth "$rdmablk" mount rdmablk://storage1/disk /mnt --queue-dept=2
check_suggestion 2 give_up "$rdmablk" mount rdmablk://storage1/disk /mnt -o giveup=5
check_suggestion 1 give_up called mount.rdmablk "$RDMABLK_BIN/rdmablk-fuse" rdmablk://storage1/disk /mnt -o giveup=5
exit "$failed"
