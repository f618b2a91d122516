#!/bin/bash
# A path that leads to another target, which has an export of the same name: its word is not believed. When the
# right target dies the mount waits for it, and has its data when it is back.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"

start_remote
image=$scratch/image
touch "$image"

start_target --export disk=memory:8M
wrong=$target
wrong_pid=$target_pid
start_target --export "disk=file:$scratch/disk.img,size=8M"
right=$target

"$rdmablk" mount "$(uri disk)" "$image" --path "$wrong" --workers 2 --reconnect-delay 0.5 --give-up 60 --log-level debug \
  2>"$scratch/mount.log" || fail "cannot mount: $(cat "$scratch/mount.log")"
verify_with_fio "$image" 8M --ioengine=libaio --iodepth=4 --rw=write --bs=64k
sum=$(sha256 "$image")

state() { "$rdmablk" mounts --json | jq --raw-output --arg at "$image" '.mounts[] | select(.mount_point == $at) | .state'; }
error_of_mount() { "$rdmablk" mounts --json | jq --raw-output --arg at "$image" '.mounts[] | select(.mount_point == $at) | .last_error'; }
is_doubted() { [[ $(error_of_mount) == *"as that may be another target"* ]]; }

kill_target
wait_until "the wrong target was asked" is_doubted
expect_equal "state without the right target" reconnecting "$(state)"

"$RDMABLK_BIN/rdmablk-target" --insecure --listen "$right" --state-dir "$scratch/state" \
  --export "disk=file:$scratch/disk.img,size=8M" 2>"$scratch/right.log" &
right_pid=$!
test_pids+=("$right_pid")
is_back() { [[ $(state) == connected ]]; }
wait_until "the mount is back" is_back
expect_equal "what the mount has" "$sum" "$(sha256 "$image")"
unmount_export "$image"
kill -TERM "$right_pid" "$wrong_pid"
wait "$right_pid" "$wrong_pid"
