#!/bin/bash
# rdmablk top shows what the exports and mounts of this machine do, also without a target, and leaves the terminal as
# it was.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"

look() { "$rdmablk" top --socket "$scratch/admin.sock" --delay 0.5 --once "$@"; }

# moves JSON-PATH: whether something is written at what a look shows there.
moves() { look --json | jq --exit-status "$1.written_bytes_per_s > 0" >/dev/null; }

write_on() { while dd if=/dev/zero of="$1" bs=64k count=16 oflag=direct conv=notrunc status=none; do :; done; }

start_remote
start_target --admin-socket "$scratch/admin.sock" --keepalive 1 --export disk=memory:16M
touch "$scratch/disk"
mount_image "$(uri disk)" "$scratch/disk"
run_in_background write_on "$scratch/disk"
writer=$!

wait_until "the mount is seen to write" moves '.mounts[] | select(.mount_point == "'"$scratch/disk"'")'
wait_until "the export is seen to be written" moves '.exports[] | select(.name == "disk")'
expect_match "a look" 'EXPORT.*disk.*MOUNT.*connected' "$(look | tr '\n' ' ')"

# In a terminal: the other screen, and back, when Ctrl-C ends it.
script --quiet --return --command "timeout --signal=INT 2 $rdmablk top --socket $scratch/admin.sock --delay 0.2" "$scratch/screen" >/dev/null ||
  [[ $? == 124 ]] || fail "top failed: $(cat "$scratch/screen")"
expect_match "what the terminal got" $'\e\\[\\?1049h.*disk.*\e\\[\\?1049l' "$(tr '\n' ' ' <"$scratch/screen")"

kill "$writer"
wait "$writer" 2>/dev/null || true
wait_until "nobody has it open" fusermount3 -u "$scratch/disk" 2>/dev/null
stop_target
expect_match "a look without a target" 'exports: cannot list the exports' "$(look)"
expect_fail 2 'delay takes seconds' "$rdmablk" top --delay 0
