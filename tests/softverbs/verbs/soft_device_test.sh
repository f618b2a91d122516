#!/bin/sh
# scripts/soft-device itself.
# usage: soft_device_test.sh SOFT_DEVICE
set -eu

soft_device=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
status_of() {
  status=0
  "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
}

status_of "$soft_device" --help
{ [ "$status" -eq 0 ] && grep -q '^usage:' "$scratch/out"; } || fail "--help"
status_of "$soft_device"
{ [ "$status" -eq 2 ] && grep -q '^usage:' "$scratch/err"; } || fail "no command: $status"
status_of "$soft_device" sh -c 'exit 7'
[ "$status" -eq 7 ] || fail "the command's status is $status"
status_of "$soft_device" "$scratch/none"
{ [ "$status" -eq 127 ] && grep -q 'not found' "$scratch/err"; } || fail "a command that is not there"
RDMABLK_BUILD_DIR=$scratch status_of "$soft_device" true
{ [ "$status" -eq 1 ] && grep -q 'is not built' "$scratch/err"; } || fail "a library that is not there"
