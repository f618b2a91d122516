#!/bin/bash
# rdmablk mounts, and rdmablk unmount --force: with mounts that work, are busy, stopped or dead.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/schema_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/schema_lib.sh"
start
rdmablk=$RDMABLK_BIN/rdmablk
for name in busy frozen dead; do
  touch "$scratch/$name"
  mount_image --null 1M "$scratch/$name" -o workers=2,queue_depth=4
done

# mount_of NAME FILTER: what --json says of one.
mount_of() {
  "$rdmablk" mounts --json --timeout 0.3 |
    jq --raw-output --arg path "$scratch/$1" ".mounts[] | select(.mount_point == \$path) | $2"
}

expect_equal "one that works" "connected 2 4 0 null 1048576 null" \
  "$(mount_of busy '"\(.state) \(.queues) \(.queue_depth) \(.in_flight) \(.oldest_request_us) \(.size_bytes) \(.uri)"')"
frozen=$(daemon_of "$scratch/frozen")
kill -STOP "$frozen"
dead=$(daemon_of "$scratch/dead")
kill -KILL "$dead"
wait_for_exit "$dead" 10 || fail "SIGKILL did not end the daemon"
expect_valid mounts "$rdmablk" mounts --json --timeout 0.3 >/dev/null
expect_equal "one that is stopped" not_answering "$(mount_of frozen .state)"
expect_equal "one that is dead" dead "$(mount_of dead .state)"
expect_match "for people" "$scratch/busy +null +connected .*2 x 4 +0 +- +0 +1 MiB" "$("$rdmablk" mounts)"
if chmod 755 "$scratch" && setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
  expect_match "as another user" "$scratch/busy +null +not permitted" \
    "$(setpriv --reuid=65534 --clear-groups "$rdmablk" mounts --timeout 0.3)"
  expect_fail 1 "it takes root, or the user who mounted it" \
    setpriv --reuid=65534 --clear-groups "$rdmablk" unmount --force "$scratch/busy"
fi

# gone NAME PATTERN: ends a mount by force, which says something that matches.
gone() {
  local output
  output=$("$rdmablk" unmount --force "$scratch/$1" 2>&1) || fail "unmount --force $1: $output"
  expect_match "what is said of $1" "$2" "$output"
  ! is_mounted "$scratch/$1" || fail "$1 is mounted still"
}

# A reader of one whose daemon is stopped is let go.
run_in_background dd if="$scratch/frozen" of=/dev/null bs=4k count=1 status=none 2>/dev/null
reader=$!
waits() { [[ $(readlink "/proc/$reader/exe") == */dd && $(sed 's/.*) //; s/ .*//' "/proc/$reader/stat") == [DS] ]]; }
wait_until "dd waits" waits
gone frozen "did not answer: what was written and not synced may be lost; rdmablk-fuse \(process $frozen\) still runs"
wait_for_exit "$reader" 10 || fail "the reader waits still"
kill -CONT "$frozen"
wait_for_exit "$frozen" 10 || fail "the daemon did not end when it ran again"

exec {held}<"$scratch/dead" 2>/dev/null || true
gone dead "had died: what was written and not synced may be lost"

busy=$(daemon_of "$scratch/busy")
exec {held}<"$scratch/busy"
expect_fail 1 "it is in use" "$rdmablk" unmount "$scratch/busy"
gone busy "it was in use: programs that have it open get errors from now on"
! is_running "$busy" || fail "the daemon of busy runs still"
expect_error "." dd if="/dev/fd/$held" of=/dev/null bs=4k count=1
exec {held}<&-
expect_fail 2 "excludes" "$rdmablk" unmount --force --lazy "$scratch/busy"
