#!/bin/bash
# rdmablk mounts while requests are under way, and rdmablk unmount --force while the target is frozen, and away.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
[[ $backing != memory ]] || backing=buffered # of a file: its requests need the target
start_remote
image=$scratch/image
touch "$image"
start_target --export "$(export_spec disk 16M)"

# mount_of FILTER: what rdmablk mounts says of the only mount.
mount_of() { "$rdmablk" mounts --json | jq --raw-output --arg path "$image" ".mounts[] | select(.mount_point == \$path) | $1"; }
is_in_flight() { [[ $(mount_of '.in_flight == 1 and .oldest_request_us > 0') == true ]]; }
# write_and_wait: writes something, and then something that is under way.
write_and_wait() {
  run_in_background dd if=/dev/zero of="$image" bs=4k count=1 conv=notrunc status=none 2>"$scratch/dd"
  writer=$!
  wait_until "a write is under way" is_in_flight
}
# ends_by_force PATTERN
ends_by_force() {
  local output status=0
  output=$("$rdmablk" unmount --force "$image" 2>&1) || fail "unmount --force: $output"
  expect_match "what is said" "$1" "$output"
  ! is_mounted "$image" || fail "it is mounted still"
  wait "$writer" || status=$?
  expect_equal "exit status of the writer" 1 "$status"
}

# Frozen: nobody knows that yet.
mount_export disk "$image" --reconnect-delay 0.1
expect_equal "what is mounted" "$(uri disk) connected" "$(mount_of '"\(.uri) \(.state)"')"
daemon=$(daemon_of "$image")
dd if=/dev/zero of="$image" bs=64k count=1 conv=notrunc status=none
expect_equal "written and not synced" true "$(mount_of .unsynced_writes)"
kill -STOP "$target_pid"
wait_until "the target stops" is_stopped "$target_pid"
write_and_wait
ends_by_force "it was in use.*1 request under way failed; what was written and not synced may be lost"
kill -CONT "$target_pid"
wait_for_exit "$daemon" 30 || fail "the daemon did not end"

# Away: its requests fail with EIO.
mount_export disk "$image" --reconnect-delay 0.1 --give-up never
daemon=$(daemon_of "$image")
kill_target
has_lost() { [[ $(mount_of .state) == reconnecting ]]; }
wait_until "the loss is known" has_lost
write_and_wait
ends_by_force "1 request under way failed"
expect_match "what the writer got" "Input/output error" "$(cat "$scratch/dd")"
wait_for_exit "$daemon" 10 || fail "the daemon did not end"
