#!/bin/bash
# Checks that every command has a manual page, that a page names each option that --help does, and that groff
# reads the pages without a warning.
#
# Usage: tests/manuals/pages.sh DIRECTORY
#
# DIRECTORY is where the pages were built; RDMABLK_BIN where the programs lie.
set -euo pipefail

directory=$1
: "${RDMABLK_BIN:?}"
failed=0

complain() {
  printf '%s\n' "$*" >&2
  failed=1
}

# Prints the commands below a command line, with all that there are below these: "export", "export add".
commands_of() {
  local -a command=("$@")
  local name
  "$RDMABLK_BIN/rdmablk" "${command[@]}" --help |
    awk '/^Subcommands:/ { listed = 1; next } /^[^ ]/ { listed = 0 } listed && /^  [a-z]/ { print $1 }' |
    while read -r name; do
      printf '%s\n' "${command[*]}${command[*]:+ }$name"
      commands_of "${command[@]}" "$name"
    done
}

check_options() { # PAGE PROGRAM [COMMAND...]
  local page=$1 option text
  shift
  [[ -f $directory/$page ]] || { complain "there is no manual page $page for $*" && return; }
  text=$(man -l -E UTF-8 "$directory/$page" | col -b)
  while read -r option; do
    grep -qF -e "$option" <<<"$text" || complain "$page does not tell of $option of $*"
  done < <("$@" --help | grep -oE '^  (-[a-z],)?--[a-z-]+' | grep -oE -e '--[a-z-]+')
}

check_warnings() {
  local page warnings
  for page in "$directory"/*.[1-8]; do
    warnings=$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
    [[ -z $warnings ]] || complain "$page: $warnings"
  done
}

export MANWIDTH=10000 LC_ALL=C.UTF-8
checked=0
check_options rdmablk.1 "$RDMABLK_BIN/rdmablk"
check_options rdmablk-target.8 "$RDMABLK_BIN/rdmablk-target"
check_options rdmablk-fuse.8 "$RDMABLK_BIN/rdmablk-fuse"
while read -ra command; do
  check_options "rdmablk-${command[0]}.1" "$RDMABLK_BIN/rdmablk" "${command[@]}"
  checked=$((checked + 1))
done < <(commands_of)
((checked > 5)) || complain "only $checked commands were found in --help"
check_warnings
exit "$failed"
