# What every script here shares: who speaks, how it fails.
# shellcheck shell=bash

program=${0##*/}

# Says something to the person who runs the script.
say() { printf '%s: %s\n' "$program" "$*" >&2; }

# fail STATUS MESSAGE...: ends the script with a message.
fail() {
  local status=$1
  shift
  say "$*"
  exit "$status"
}

die() { fail 1 "$@"; }

usage_error() { fail 2 "$* (see $program --help)"; }

# The comment at the head of a script is its help: everything from line 2 to the first other line.
print_help() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"; }

# need_value OPTION [VALUE]...: what begins with -- is the next option, and no value.
need_value() { [[ $# -gt 1 && $2 != --* ]] || usage_error "$1 needs a value"; }

# output_file OPTION FILE: prints its absolute path; better refused now than after a measurement.
output_file() {
  local directory
  directory=$(dirname -- "$(realpath --canonicalize-missing -- "$2")")
  if [[ -z $2 || $2 == */ || -d $2 ]] || ! is_writable "$2" "$directory"; then
    usage_error "$1 is '$2': no file can be made there"
  fi
  realpath --no-symlinks --canonicalize-missing -- "$2"
}

# is_writable FILE DIRECTORY: or can be made in it.
is_writable() {
  if [[ -e $1 ]]; then [[ -w $1 ]]; else [[ -d $2 && -w $2 && -x $2 ]]; fi
}

# end_on_signals: by way of the EXIT trap, which bash runs too late, or not at all, otherwise.
end_on_signals() {
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# first_line COMMAND...: of what it prints. Reads all of it: what writes to nobody fails (pipefail).
first_line() { "$@" 2>/dev/null | sed -n 1p; }
