#!/bin/bash
# The log of writes of device mapper and its replay, with an ext4 that has nothing in between.
# Runs in the guest of scripts/vm. Usage: log_writes_test.sh CASE. Every function named test_* is a case.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/e2e/faults_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/faults_lib.sh"
# shellcheck source=tests/e2e/dm_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/dm_lib.sh"
start

# make_files COMMAND: an ext4 on the logged device, and files that COMMAND copies to it, given their number,
# with a mark behind each.
make_files() {
  local number
  make_logged_device 16M 256M
  mkfs.ext4 -q "$logged"
  mark 0
  mkdir "$scratch/fs" "$scratch/files"
  mount "$logged" "$scratch/fs"
  for number in {1..6}; do
    head --bytes=$((number * 54321)) /dev/urandom >"$scratch/files/$number"
    "$@" "$number"
    mark "$number"
  done
  (cd "$scratch/files" && sha256sum {1..6}) >"$scratch/sums"
  umount "$scratch/fs"
  remove_logged_device
}

fsynced_file() { dd if="$scratch/files/$1" of="$scratch/fs/$1" bs=10000 conv=fsync status=none; }

careless_file() { cp "$scratch/files/$1" "$scratch/fs/$1"; }

test_fsync() {
  make_files fsynced_file
  replay_log --after 0 --at-least 20 --command "$check_ext4 $scratch/sums" || fail "the replay failed"
}

test_no_fsync() {
  make_files careless_file
  expect_error "1: FAILED.*after entry" \
    replay_log --after 0 --command "$check_ext4 $scratch/sums 2>&1"
}

# What no flush followed is not in the log yet when the mark is.
test_no_barrier() {
  make_logged_device 64M 512M
  write_and_mark() { printf '%s' "$1" | dd of="$logged" bs=512 seek="$2" oflag=direct conv=notrunc,sync status=none; mark "$1"; }
  write_and_mark first 0
  sync "$logged"
  mark second
  remove_logged_device
  # shellcheck disable=SC2016 # for the command's shell
  replay_log --at mark --command '[ "$REPLAY_MARK" = first ] || head --bytes=5 "$REPLAY_TARGET" | grep --quiet first'
  # shellcheck disable=SC2016
  expect_error "last mark is 'first'.*status 1" \
    replay_log --at mark --command 'head --bytes=5 "$REPLAY_TARGET" | grep --quiet first'
}

test_usage() {
  truncate --size 1M "$scratch/none"
  expect_fail 1 "holds no log" "$tools_bin/rdmablk-log-writes-replay" "$scratch/none" "$scratch/none"
  expect_fail 1 "missing" "$tools_bin/rdmablk-log-writes-replay" "$scratch/missing" "$scratch/none"
  expect_fail 2 "TARGETDEV" "$tools_bin/rdmablk-log-writes-replay" "$scratch/none"
}

"test_$1"
