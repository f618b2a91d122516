#!/bin/bash
# A request that takes longer than it may is logged, and the line says where it waited: at a target that stands
# still, the target; without a limit nothing is logged.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"

# read_from_frozen_target FILE: a read of 4 KiB that takes a fifth of a second, at least.
read_from_frozen_target() {
  local reader
  freeze "$target_pid"
  dd if="$1" of=/dev/null bs=4k count=1 skip=2 iflag=direct status=none &
  reader=$!
  test_pids+=("$reader")
  sleep 0.2 # how long it takes is what is tested
  kill -CONT "$target_pid"
  wait "$reader" || fail "the read failed"
}

# mount_with_log FILE ARGUMENT...: in the foreground, with its log in FILE.log.
mount_with_log() {
  local file=$1
  shift
  touch "$file"
  "$RDMABLK_BIN/rdmablk-fuse" --foreground --quiet "$@" "$(uri disk)" "$file" 2>"$file.log" &
  test_pids+=($!)
  wait_until "$file is mounted" grep --quiet --no-messages "is mounted on" "$file.log"
}

backing=buffered # a memory export's target is not asked for anything
start_remote
start_target --export "$(export_spec disk 16M)"

mount_with_log "$scratch/limited" --slow 100
read_from_frozen_target "$scratch/limited"
unmount_image "$scratch/limited"
line=$(grep 'slow: ' "$scratch/limited.log") || fail "no line tells of the slow request"
[[ $line =~ 'slow: a read of 4096 bytes at 8192 took '([0-9]+)\.[0-9]' ms: '([0-9]+)\.[0-9]' ms until it had a slot, '([0-9]+)\.[0-9]' ms until it was posted, '([0-9]+)\.[0-9]' ms on the wire and at the target, ' ]] ||
  fail "it says: $line"
((BASH_REMATCH[1] >= 150 && BASH_REMATCH[4] >= 150)) || fail "it was at the target for longer: $line"

mount_with_log "$scratch/unlimited" -o slow=0
read_from_frozen_target "$scratch/unlimited"
unmount_image "$scratch/unlimited"
! grep 'slow: ' "$scratch/unlimited.log" || fail "a line tells of a slow request"
stop_target
