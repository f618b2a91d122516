#!/bin/bash
# rdmablk timeouts: what a live mount does while its target is away, shown and changed. A null mount keeps
# the times as any other.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start
rdmablk=$RDMABLK_BIN/rdmablk

# times PATH: as JSON has them.
times() { "$rdmablk" timeouts "$1" --json | jq --raw-output '"\(.reconnect_delay_ms) \(.fail_fast_ms) \(.give_up_ms)"'; }

image=$scratch/image
touch "$image"
mount_image --null 1M "$image"
expect_equal "the defaults" "2000 null 600000" "$(times "$image")"
expect_equal "the state" "1 $image null connected 0 null null" \
  "$("$rdmablk" timeouts "$image" --json |
    jq --raw-output '"\(.version) \(.mount_point) \(.source) \(.state) \(.reconnects) \(.last_loss) \(.last_error)"')"
expect_match "for people" $'state +connected\n.*give-up +600 s' "$("$rdmablk" timeouts "$image")"

expect_equal "what a change prints" "" "$("$rdmablk" timeouts "$image" --fail-fast 1.5)"
expect_equal "one changed" "2000 1500 600000" "$(times "$image")"
"$rdmablk" timeouts "$image" --reconnect-delay 0.1 --fail-fast never --give-up 0
expect_equal "all changed" "100 null 0" "$(times "$image")"
expect_fail 2 "--give-up takes seconds" "$rdmablk" timeouts "$image" --fail-fast 3 --give-up soon
expect_equal "after a refusal" "100 null 0" "$(times "$image")"

# It is not for other users.
if chmod 755 "$scratch" && setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
  for command in "timeouts --fail-fast 3" unmount "unmount --lazy"; do
    # shellcheck disable=SC2086 # words
    expect_fail 1 "it takes root, or the user who mounted it" \
      setpriv --reuid=65534 --clear-groups "$rdmablk" $command "$image"
  done
fi
unmount_image "$image"

# A directory; and times that are set from the start.
mkdir "$scratch/directory"
mount_image --null 1M "$scratch/directory" -o reconnect_delay=0.5,fail_fast=2 --give-up never
expect_equal "the mount's options" "500 2000 null" "$(times "$scratch/directory")"
"$rdmablk" timeouts "$scratch/directory/" --give-up 30
expect_equal "through the directory" "500 2000 30000" "$(times "$scratch/directory")"
for command in timeouts unmount; do
  expect_fail 1 "nothing is mounted there; it lies in the mount point '$scratch/directory': name that" \
    "$rdmablk" "$command" "$scratch/directory/null"
  expect_fail 1 "nothing is mounted there; below it is the mount point '$scratch/directory': name that" \
    "$rdmablk" "$command" "$scratch"
done

# A daemon that has died.
pid=$(daemon_of "$scratch/directory")
kill -KILL "$pid"
wait_for_exit "$pid" 30 || fail "SIGKILL did not end the daemon"
expect_fail 1 "rdmablk-fuse has died" "$rdmablk" timeouts "$scratch/directory"
"$rdmablk" unmount "$scratch/directory"

expect_fail 1 "nothing is mounted there" "$rdmablk" timeouts "$scratch"
expect_fail 1 "no mount of rdmablk, but of type proc" "$rdmablk" timeouts /proc
for option in --reconnect-delay --fail-fast --give-up; do
  for value in -1 nan 1e9 5s 99999999999999999999 '' ' 5'; do
    expect_fail 2 "$option(: its value is empty| takes seconds.*not '$value')" "$rdmablk" timeouts "$image" "$option" "$value"
  done
done
expect_fail 2 "option fail_fast takes seconds" "$RDMABLK_BIN/rdmablk-fuse" --null 1M "$image" -o fail_fast=soon
expect_fail 2 "take_over and ro contradict" "$RDMABLK_BIN/rdmablk-fuse" --take-over -o ro rdmablk://host/disk "$image"
