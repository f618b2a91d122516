#!/bin/bash
# Devices that die and come back, and ports that go down and up, at either end, under a verified load on two
# paths: requests go over the other device, nobody sees an error, the logs say what happened, and when the device
# is there again the queues are back on it. On the software device, which reports such things as adapters do.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"

[[ ${SOFTVERBS_DEVICES:-} == 2 ]] || skip "it takes two software devices"
start_remote
address=0.0.0.0
image=$scratch/image plan=$scratch/plan events=$scratch/events
touch "$image" "$events"

# plan [FAULT]: what goes wrong from here on.
plan() {
  printf 'log=%s\n%s\n' "$events" "${1:-}" >"$plan.new"
  mv "$plan.new" "$plan"
}
plan
export SOFTVERBS_FAULTS=@$plan

start_target --keepalive 1 --export "$(export_spec disk 32M)"
port=${target##*:}
target=127.0.0.1:$port
"$rdmablk" mount "$(uri disk)" "$image" --path "127.0.0.2:$port" --workers 2 --reconnect-delay 0.5 --give-up 90 \
  2>"$scratch/mount.log" || fail "cannot mount: $(cat "$scratch/mount.log")"

paths() { "$rdmablk" mounts --json | jq --arg at "$image" --compact-output '.mounts[] | select(.mount_point == $at) | .paths'; }
are_paths() { [[ $(paths | jq "$1") == true ]]; }
# await WHAT FILTER: takes a device's time-outs.
await() {
  local attempts=6
  until (wait_until "$1" are_paths "$2") 2>/dev/null; do
    ((attempts-- > 0)) || fail "waited in vain: $1: $(paths)"
  done
}
await_both() { await "each path has a queue" 'all(.up) and all(.queues == 1)'; }

: >"$scratch/rounds"
load() {
  until [[ -e $scratch/enough ]]; do
    verify_with_fio "$image" 8M --ioengine=libaio --iodepth=16 --rw=randwrite --bs=16k --numjobs=2 --offset_increment=8M
    echo round >>"$scratch/rounds"
  done
}
rounds() { wc --lines <"$scratch/rounds"; }
has_rounds() { (($(rounds) >= $1)); }
await_work() {
  local attempts=6 wanted=$(($(rounds) + 2))
  until (wait_until "fio works on" has_rounds "$wanted") 2>/dev/null; do
    ((attempts-- > 0)) || fail "fio does not work on: $(paths), $(tail -n 5 "$scratch/fio.log")"
  done
}

has_event() { grep --quiet "$1" "$events"; }

# suffer FAULT DEVICE GONE BACK PROGRAM: as long as it lasts the other path has both queues.
suffer() {
  local path=${2#soft}
  : >"$events"
  await_both
  await_work
  plan "$1:device=$2:program=$5"
  wait_until "$5 is told that $2 is $3" has_event "^$5 .*$2 $3"
  await "the other path has both queues" ".[$path].queues == 0 and .[1 - $path].queues == 2"
  await_work
  plan
  wait_until "$5 is told that $2 is $4" has_event "^$5 .*$2 $4"
  await_both
  await_work
}

run_in_background load
work=$!
suffer device-removal soft0 gone back rdmablk-target
suffer port-down soft1 down up rdmablk-target
suffer device-removal soft1 gone back rdmablk-fuse
suffer port-down soft0 down up rdmablk-fuse
touch "$scratch/enough"
wait "$work" || fail "fio saw an error: $(tail -n 20 "$scratch/fio.log")"
unmount_export "$image"
stop_target
expect_match "the target's log" "soft0: .*catastrophic" "$(cat "$target_log")"
expect_match "the target's log" "soft1.*: port .*error" "$(cat "$target_log")"
