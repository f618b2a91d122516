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
