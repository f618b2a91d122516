#!/bin/bash
# One initiator writes an export at a time. Who takes the lease over from one that is dead, or frozen, or
# merely in the way, has the export for itself: nothing of the old one arrives any more.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
start_target --export "$(export_spec disk 16M)"

first=$scratch/first second=$scratch/second reader=$scratch/reader
touch "$first" "$second" "$reader"

# fill FILE BYTE: the whole image.
fill() {
  head --bytes=16M /dev/zero | tr '\0' "$2" |
    dd of="$1" bs=1M iflag=fullblock oflag=direct conv=notrunc,fsync status=none
}

# holds_only FILE BYTE: as another initiator sees it.
holds_only() { [[ $(dd if="$1" bs=1M iflag=direct status=none | tr --delete "$2" | wc --bytes) == 0 ]]; }

# scribble FILE: zeroes, again and again, until that fails.
scribble() {
  while dd if=/dev/zero of="$1" bs=64K count=256 oflag=direct conv=notrunc status=none; do :; done
  return 1
}
has_scribbled() { ! holds_only "$1" "$2"; }

# expect_content BYTE: what a reader sees that asks the target.
expect_content() {
  mount_export disk "$reader" -o ro
  holds_only "$reader" "$1" || fail "there is something else in the export than '$1'"
  unmount_export "$reader"
}

# A second writer is told who is there; a reader is welcome.
mount_export disk "$first"
fill "$first" a
expect_fail 1 'held for writing by .* since .*--take-over' "$rdmablk" mount "$(uri disk)" "$second" --quiet
expect_content a

# The lease comes back with the writer that leaves.
unmount_export "$first"
mount_export disk "$first"

# The first one is killed in the middle of its writes; the next one need not ask.
run_in_background scribble "$first"
wait_until "the first one writes" has_scribbled "$first" a
pid=$(daemon_of "$first")
kill -KILL "$pid"
wait_for_exit "$pid" 30 || fail "SIGKILL did not end the daemon"
umount --lazy "$first"
mount_export disk "$second"
fill "$second" b
expect_content b
unmount_export "$second"

# The first one is frozen, with writes in flight: it keeps the lease until it is taken over.
lost_reason() { "$rdmablk" timeouts "$first" --json | jq --raw-output .last_loss; }
mount_export disk "$first"
run_in_background scribble "$first"
writer=$!
wait_until "the first one writes" has_scribbled "$first" b
pid=$(daemon_of "$first")
freeze "$pid"
expect_fail 1 'held for writing' "$rdmablk" mount "$(uri disk)" "$second" --quiet
mount_export disk "$second" --take-over
fill "$second" c
kill -CONT "$pid"
wait "$writer" && fail "the old writer noticed nothing"
expect_content c
expect_error 'Input/output error' dd if=/dev/zero of="$first" bs=4K count=1 oflag=direct conv=notrunc status=none
expect_content c
expect_match "who has it now, and what to do" "given to another initiator since: it is held for writing by .*mount it anew.*--take-over" \
  "$(lost_reason)"
expect_fail 1 "lost for good.*no effect" "$rdmablk" timeouts "$first" --give-up never
"$rdmablk" unmount "$first" || true
wait_for_exit "$pid" 45 || fail "the daemon of the old writer does not end"

# Nobody takes over what is only read.
expect_fail 2 'take' "$rdmablk" mount "$(uri disk)" "$first" --quiet -o ro --take-over
unmount_export "$second"
stop_target
