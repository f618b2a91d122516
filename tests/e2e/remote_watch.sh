#!/bin/bash
# Who watches a target and a mount over HTTP sees what they do, and the target shows what its initiators report; an
# older initiator reports nothing. A program ends although somebody holds a connection and says nothing.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/watch_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/watch_lib.sh"

reported='rdmablk_client_reported_requests_total{export="disk",client="",operation="write"}'

# write_blocks FILE COUNT: of 4 KiB, one after another.
write_blocks() { dd if=/dev/zero of="$1" bs=4k count="$2" oflag=direct conv=notrunc status=none || fail "cannot write to $1"; }

# mount_watched EXPORT ARGUMENT...: on $scratch/EXPORT; $mount is where its metrics are.
mount_watched() {
  local image=$scratch/$1 export=$1
  shift
  touch "$image"
  mount_image_logging "$image.log" --metrics 0 "$@" "$(uri "$export")" "$image"
  mount=$(metrics_address "$image.log")
}

# is_positive HOST:PORT METRIC
is_positive() { [[ $(value "$1" "$2") =~ [1-9] ]]; }

start_remote
# Reports come as often as keepalives.
start_target --metrics 0 --keepalive 1 --export disk=memory:16M --export "file=file:$scratch/file.img,size=16M"
watched=$(metrics_address "$target_log")

# Writes, reads and their bytes; the target knows only from the initiator.
mount_watched disk
write_blocks "$scratch/disk" 8
dd if="$scratch/disk" of=/dev/null bs=4k count=3 iflag=direct status=none
expect_value "$mount" 'rdmablk_mount_requests_total{export="disk",operation="write"}' 8
expect_value "$mount" 'rdmablk_mount_bytes_total{export="disk",operation="write"}' 32768
expect_value "$mount" 'rdmablk_mount_requests_total{export="disk",operation="read"}' 3
expect_value "$mount" 'rdmablk_mount_request_duration_seconds_count{export="disk",operation="write"}' 8
expect_value "$mount" 'rdmablk_mount_requests_in_flight{export="disk"}' 0
expect_value "$mount" 'rdmablk_mount_connected{export="disk"}' 1
expect_value "$mount" 'rdmablk_mount_size_bytes{export="disk"}' 16777216
expect_value "$watched" rdmablk_target_sessions 1
expect_value "$watched" 'rdmablk_export_attachments{export="disk",access="read_write"}' 1
wait_until "the target shows what is reported" has_value "$watched" "$reported" 8

# The last report comes with the end.
write_blocks "$scratch/disk" 1
unmount_image "$scratch/disk"
expect_value "$watched" "$reported" 9
mount_watched disk -o mask_features=counters
write_blocks "$scratch/disk" 1
unmount_image "$scratch/disk"
expect_value "$watched" "$reported" 9

# A file export's requests the target works on itself.
mount_watched file
write_blocks "$scratch/file" 4
sync "$scratch/file"
expect_value "$watched" 'rdmablk_export_requests_total{export="file",operation="write"}' 4
expect_value "$watched" 'rdmablk_export_bytes_total{export="file",operation="write"}' 16384
is_positive "$watched" 'rdmablk_export_sync_duration_seconds_count{export="file"}' || fail "no flush was counted"
is_positive "$watched" rdmablk_target_slot_memory_bytes || fail "the slots take no memory"

# What waits is seen to wait.
freeze "$target_pid"
run_in_background dd if="$scratch/file" of=/dev/null bs=4k count=1 iflag=direct status=none
reader=$!
wait_until "a request is in flight" has_value "$mount" 'rdmablk_mount_requests_in_flight{export="file"}' 1
is_positive "$mount" 'rdmablk_mount_oldest_request_age_seconds{export="file"}' || fail "the oldest request has no age"
kill -CONT "$target_pid"
wait "$reader" || fail "the read failed"

# What is there to be looked at is well formed.
if type -P promtool >/dev/null; then
  page "$watched" /metrics | promtool check metrics || fail "promtool finds fault with the target"
  page "$mount" /metrics | promtool check metrics || fail "promtool finds fault with the mount"
fi
expect_equal "exports in the status" $'disk\nfile' "$(page "$watched" /status.json | jq -r '.exports[].name')"
expect_equal "state of the mount" connected "$(page "$mount" /status.json | jq -r .mount.state)"
expect_match "the page" '^<!doctype html>' "$(page "$watched" /)"

# An address that is taken, and one that makes no sense.
taken="for --metrics: Address already in use: another program listens there.*choose another port"
expect_error "cannot listen on $mount $taken" "$RDMABLK_BIN/rdmablk-target" --insecure --listen "$address:0" \
  --state-dir "$scratch/other" --export other=memory:1M --metrics "$mount"
expect_fail 1 "cannot listen on $mount $taken" "$RDMABLK_BIN/rdmablk-fuse" --metrics "$mount" "$(uri disk)" "$scratch/disk"
expect_fail 2 'metrics nowhere: it takes PORT' "$RDMABLK_BIN/rdmablk-fuse" --metrics nowhere "$(uri disk)" "$scratch/disk"

exec {silent_mount}<>"/dev/tcp/${mount%:*}/${mount##*:}" {silent_target}<>"/dev/tcp/${watched%:*}/${watched##*:}"
unmount_image "$scratch/file"
stop_target
exec {silent_mount}>&- {silent_target}>&-
