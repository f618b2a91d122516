#!/bin/bash
# A target that goes away for a while: who waits can be killed, the mount answers what needs no data, it can
# be told not to wait, and unmounting does not wait.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
image=$scratch/image
touch "$image"

# state: of the mount.
state() { "$rdmablk" timeouts "$image" --json | jq --raw-output .state; }
has_state() { [[ $(state) == "$1" ]]; }

# mount_and_lose ARGUMENT...: a mount whose target is killed.
mount_and_lose() {
  start_target --export "$(export_spec disk 16M)"
  mount_export disk "$image" --reconnect-delay 0.1 --give-up never "$@"
  dd if=/dev/zero of="$image" bs=64k count=1 conv=notrunc status=none
  kill_target
  wait_until "the loss is known" has_state reconnecting
}

# More than there are slots: 2 workers, 2 each.
mount_and_lose -o workers=2,queue_depth=2
readers=()
for block in {0..11}; do
  dd if="$image" of=/dev/null bs=4k skip="$block" count=1 status=none 2>/dev/null &
  readers+=($!)
  test_pids+=($!)
done
reads() { [[ $(readlink "/proc/$1/fd/0") == "$image" && $(sed 's/.*) //; s/ .*//' "/proc/$1/stat") == [DS] ]]; }
for pid in "${readers[@]}"; do wait_until "dd reads" reads "$pid"; done
expect_equal "size while it is away" $((16 << 20)) "$(stat --format %s "$image")"
df "$image" >/dev/null
ls -l "$image" >/dev/null
expect_match "timeouts" "reconnecting: reads and writes wait" "$("$rdmablk" timeouts "$image")"
fails_to_listen() { [[ $("$rdmablk" timeouts "$image" --json | jq --raw-output .last_error) == *"nothing listens"* ]]; }
wait_until "it is known why it is not back" fails_to_listen
expect_match "for people" $'last error +cannot connect to .*nothing listens' "$("$rdmablk" timeouts "$image")"
expect_equal "one that may wait for as long as it takes" null \
  "$("$rdmablk" timeouts "$image" --json | jq .give_up_ms)"
for pid in "${readers[@]:0:6}"; do kill -KILL "$pid"; done
for pid in "${readers[@]:6}"; do kill -TERM "$pid"; done
for pid in "${readers[@]}"; do wait_for_exit "$pid" 30 || fail "a reader (process $pid) cannot be killed"; done

# Told not to wait.
run_in_background dd if=/dev/zero of="$image" bs=4k count=1 conv=notrunc,fsync status=none 2>/dev/null
"$rdmablk" timeouts "$image" --fail-fast 0
status=0
wait "${test_pids[-1]}" || status=$?
expect_equal "exit status of a write that fails" 1 "$status"
expect_equal "state" failing "$(state)"

# Unmounted while it is away.
"$rdmablk" unmount "$image"
unmounted() { ! is_mounted "$image" && [[ -z $(daemons) ]]; }
wait_until "the daemon has ended" unmounted

# In the foreground: the exit status tells whether anything that was acknowledged may be lost.
start_target --export "$(export_spec disk 16M)"
"$RDMABLK_BIN/rdmablk-fuse" --foreground --quiet --reconnect-delay 0.1 --give-up never "$(uri disk)" "$image" 2>"$scratch/daemon.log" &
daemon=$!
test_pids+=("$daemon")
wait_until "it is mounted" is_mounted "$image"
dd if=/dev/zero of="$image" bs=64k count=1 conv=notrunc status=none
kill_target
wait_until "the loss is known" has_state reconnecting
wait_until "the log says why it is not back" grep --quiet "not back at $target yet: .*nothing listens" "$scratch/daemon.log"
kill -TERM "$daemon"
status=0
wait "$daemon" || status=$?
expect_equal "lines that say so, whatever the number of attempts" 1 \
  "$(grep --count "not back at .*nothing listens" "$scratch/daemon.log")"
if [[ $backing == memory ]]; then
  expect_equal "exit status: nothing is ever flushed" 0 "$status"
else
  expect_equal "exit status: written and not synced" 1 "$status"
  expect_match "the log" "written and not synced may be lost" "$(cat "$scratch/daemon.log")"
fi
