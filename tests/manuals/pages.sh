#!/bin/bash
# Checks that every command has a manual page, that a page names each option that --help does, that pages which are
# referred to are there, and that groff reads all of them without a warning.
#
# Usage: tests/manuals/pages.sh DIRECTORY
#
# DIRECTORY is where the pages were built; RDMABLK_BIN where the programs lie.
set -euo pipefail
# shellcheck source=tests/manuals/commands_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/commands_lib.sh"

directory=$1
: "${RDMABLK_BIN:?}"
failed=0

complain() {
  printf '%s\n' "$*" >&2
  failed=1
}

# text_of PAGE: as people see it, each paragraph in one line.
text_of() { man -l -E UTF-8 "$directory/$1" | col -b; }

# called NAME PROGRAM [ARGUMENT...]: runs a program by another name.
called() (
  name=$1
  shift
  exec -a "$name" "$@"
)

check_options() { # PAGE COMMAND...
  local page=$1 option text
  shift
  [[ -f $directory/$page ]] || { complain "there is no manual page $page for $*" && return; }
  text=$(text_of "$page")
  while read -r option; do
    grep -qF -e "$option" <<<"$text" || complain "$page does not tell of $option of $*"
  done < <("$@" --help | grep -oE '^  (-[a-zA-Z],)?--[a-z-]+' | grep -oE -e '--[a-z-]+')
}

# The page of all commands has each of them.
check_list() {
  local text command
  text=$(text_of rdmablk.1)
  while read -r command; do
    [[ $command == *' '* ]] || grep -qF "rdmablk-$command(1)" <<<"$text" ||
      complain "rdmablk.1 does not list $command"
  done < <(commands_of)
}

# Mount options are told by the page of mount.rdmablk, where people look for them.
check_mount_options() {
  local text name count=0
  text=$(text_of mount.rdmablk.8)
  while read -r name; do
    count=$((count + 1))
    grep -qE "(^|[ ,])$name(=|,|\$)" <<<"$text" || complain "mount.rdmablk.8 does not tell of the mount option $name"
  done < <("$RDMABLK_BIN/rdmablk-fuse" --help | tr '\n' ' ' | grep -oE 'Mount options: [^.]*\.' |
    sed 's/^Mount options: //; s/ *([^)]*)//g; s/\.$//' | tr ',' '\n' | sed 's/^ *//; s/=.*//')
  ((count > 10)) || complain "only $count mount options were found in rdmablk-fuse --help"
}

check_references() {
  local page name section
  for page in "$directory"/*.[1-8]; do
    while IFS='()' read -r name section _; do
      [[ -f $directory/$name.$section ]] || complain "${page##*/} refers to $name($section), which is not there"
    done < <(text_of "${page##*/}" | grep -oE '(mount\.|lib)?rdmablk[a-z.-]*\([1-8]\)' | sort -u)
  done
}

check_warnings() {
  local page warnings
  for page in "$directory"/*.[1-8]; do
    warnings=$(MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
    [[ -z $warnings ]] || complain "$page: $warnings"
  done
}

export MANWIDTH=10000 LC_ALL=C.UTF-8
checked=0
check_options rdmablk.1 "$RDMABLK_BIN/rdmablk"
check_options rdmablk-target.8 "$RDMABLK_BIN/rdmablk-target"
check_options rdmablk-fuse.8 "$RDMABLK_BIN/rdmablk-fuse"
check_options mount.rdmablk.8 called mount.rdmablk "$RDMABLK_BIN/rdmablk-fuse"
while read -ra command; do
  check_options "rdmablk-${command[0]}.1" "$RDMABLK_BIN/rdmablk" "${command[@]}"
  checked=$((checked + 1))
done < <(commands_of)
((checked > 20)) || complain "only $checked commands were found in --help"
check_list
check_mount_options
check_references
check_warnings
exit "$failed"
