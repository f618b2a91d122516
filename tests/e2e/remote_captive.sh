#!/bin/bash
# --run: a target, and a mount, for one command; everything is gone when it ends, however it ends.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote

export TMPDIR=$scratch RDMABLK=$rdmablk FUSE=$RDMABLK_BIN/rdmablk-fuse
tgt=("$RDMABLK_BIN/rdmablk-target" --insecure --export a=memory:4M --export b=memory:1M)
# The software device is there on the loopback address, others are not.
[[ $address == 127.0.0.1 ]] || tgt+=(--listen "$address:0")

# expect_run STATUS COMMAND...: of a program with --run.
expect_run() {
  local expected=$1 status=0
  shift
  "$@" >"$scratch/out" 2>"$scratch/log" || status=$?
  expect_equal "exit status of $* ($(cat "$scratch/log"))" "$expected" "$status"
}

# run_for COMMAND...: in the background, as process $program; returns when its command has said its
# number, $command.
run_for() {
  mkfifo "$scratch/says"
  run_in_background "$@" 2>"$scratch/log"
  program=$!
  read -r command <"$scratch/says" || fail "the command did not start: $(cat "$scratch/log")"
  rm "$scratch/says"
}

# expect_gone PID WHAT
expect_gone() { wait_for_exit "$1" 20 || fail "$2: process $1 is left"; }

# expect_no_mount WHAT: nor a directory for one.
expect_no_mount() {
  wait_until "$1: the mount goes" has_no_mount
}
has_no_mount() { [[ -z $(mounts_of '') && -z $(find "$scratch" -mindepth 1 -maxdepth 1 -name 'rdmablk-*') ]]; }

says="echo \$\$ >$scratch/says;"

# The command finds the target, and its status is the target's.
# shellcheck disable=SC2016 # the command's shell expands it
expect_run 7 "${tgt[@]}" --run '"$RDMABLK" info "$uri" && echo "$exports $host:$port $uri" && exit 7'
expect_match "what the command finds" "a b ($address:[0-9]+) rdmablk://$address:[0-9]+/a" "$(tail -n 1 "$scratch/out")"
expect_run 0 "${tgt[@]}" --run true
expect_run 137 "${tgt[@]}" --run 'kill -KILL $$'

# A target that cannot start runs nothing.
expect_run 1 "${tgt[@]}" --export "c=file:$scratch/none" --run "touch $scratch/ran"
[[ ! -e $scratch/ran ]] || fail "the command ran without a target"

# What the command leaves is ended, also what has a session of its own.
expect_run 3 "${tgt[@]}" --run "setsid sleep 1000 & echo \$! >$scratch/left; exit 3"
! is_running "$(cat "$scratch/left")" || fail "what the command left still runs"

# Signals are for the command.
run_for "${tgt[@]}" --run "trap 'exit 5' TERM; $says while :; do sleep 0.02; done"
kill -TERM "$program"
status=0
wait "$program" || status=$?
expect_equal "exit status after SIGTERM" 5 "$status"

# When the target is killed, the command is gone, with its children.
run_for "${tgt[@]}" --run "setsid sleep 1000 & echo \$! >$scratch/left; $says sleep 1000"
kill -KILL "$program"
expect_gone "$command" "the target was killed"
expect_gone "$(cat "$scratch/left")" "the target was killed"

# A mount for a command, at a place of its own, of a target for that command.
# shellcheck disable=SC2016
expect_run 9 "${tgt[@]}" --run '"$FUSE" --run "head --bytes=1M /dev/urandom >\"$TMPDIR/data\" &&
    dd if=\"$TMPDIR/data\" of=\"\$image\" bs=64K conv=notrunc oflag=direct status=none &&
    dd if=\"\$image\" bs=64K count=16 iflag=direct status=none | cmp - \"$TMPDIR/data\" && exit 9" "$uri"'
expect_no_mount "after the command"
touch "$scratch/image"
# shellcheck disable=SC2016
expect_run 0 "$FUSE" --null 1M --run 'test -s "$image" && test "$image" = "$mountpoint"' "$scratch/image"
expect_no_mount "after the command on a mount point"

# What the command leaves behind on the mount does not keep it.
# shellcheck disable=SC2016
expect_run 0 "$FUSE" --null 1M --run 'sleep 1000 <"$image" &'
expect_no_mount "after a command that left a child"

# When the mount's daemon is killed, the mount is gone, too.
run_for "$FUSE" --null 1M --run "$says sleep 1000"
kill -KILL "$program"
expect_gone "$command" "the mount's daemon was killed"
expect_no_mount "after SIGKILL"

# When it is unmounted, there is nothing to run for.
run_for "$FUSE" --null 1M --run "$says sleep 1000"
umount "$(mounts_of '')"
status=0
wait "$program" || status=$?
expect_equal "exit status when it is unmounted" 1 "$status"
expect_gone "$command" "it was unmounted"
expect_no_mount "after it was unmounted"

# The pidfile is that of the daemon, and there as long as the mount.
pidfile=$scratch/mount.pid
mount_image --null 1M "$scratch/image" --pidfile "$pidfile"
expect_equal "what the pidfile says" "$(daemon_of "$scratch/image")" "$(cat "$pidfile")"
mkdir "$scratch/other"
expect_fail 1 "pidfile $pidfile is that of process" "$FUSE" --quiet --null 1M "$scratch/other" --pidfile "$pidfile"
unmount_image "$scratch/image"
[[ ! -e $pidfile ]] || fail "the pidfile is left"
