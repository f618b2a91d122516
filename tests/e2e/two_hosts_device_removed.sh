#!/bin/bash
# An RDMA device of this host is removed under mounts and a verified load, on both links in turn: who removes it
# does not wait for the mounts. The one with two paths goes on over the other link; the one with a single path
# waits. When the device is back, the queues are back on their own link, and nobody has seen an error.
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"

start_two_hosts
[[ -n ${RDMABLK_VM_PEER_ADDRESS_1:-} ]] || skip "it takes two links: scripts/vm --hosts 2 --links 2"
kind=${device%0}
both=$scratch/both single=$scratch/single

state_of() { "$rdmablk" mounts --json | jq --arg at "$1" --compact-output '.mounts[] | select(.mount_point == $at)'; }
is_so() { [[ $(state_of "$1" | jq "$2") == true ]]; }

# await MOUNT WHAT FILTER: takes a device's time-outs.
await() {
  local attempts=6
  until (wait_until "$2" is_so "$1" "$3") 2>/dev/null; do
    ((attempts-- > 0)) || fail "waited in vain: $2: $(state_of "$1")"
  done
}

load() {
  while [[ ! -e $scratch/enough ]]; do
    verify_with_fio "$1" 8M --ioengine=libaio --iodepth=16 --rw=randwrite --bs=16k
    echo verified >>"$1.rounds"
  done
}
rounds() { wc --lines <"$1.rounds"; }
has_rounds() { (($(rounds "$1") >= $2)); }

# expect_more_rounds FILE: the load goes on.
expect_more_rounds() {
  local attempts=6 wanted=$(($(rounds "$1") + 2))
  until (wait_until "the load on $1 goes on" has_rounds "$1" "$wanted") 2>/dev/null; do
    ((attempts-- > 0)) || fail "the load on $1 does not go on: $(state_of "$1"), $(tail -n 5 "$scratch/fio.log")"
  done
}

is_removed() { [[ -e $scratch/removed ]]; }
remove_device() {
  rdma link delete "$1"
  touch "$scratch/removed"
}

address=0.0.0.0
start_target --keepalive 1 --export disk=memory:16M,chunk=4M --export other=memory:16M
port=${target##*:}
target=$RDMABLK_VM_PEER_ADDRESS:$port
touch "$both" "$single"
mount_export disk "$both" --path "$RDMABLK_VM_PEER_ADDRESS_1:$port" --workers 2 --reconnect-delay 0.5 --give-up 90
mount_export other "$single" --reconnect-delay 0.5 --give-up 90
loads=()
for mount in "$both" "$single"; do
  : >"$mount.rounds"
  run_in_background load "$mount"
  loads+=("$!")
done
for link in 0 1; do
  rm -f "$scratch/removed"
  await "$both" "each path has a queue" '.paths | all(.up) and all(.queues == 1)'
  expect_more_rounds "$both"
  run_in_background remove_device "$(device_of "$link")"
  wait_until "$(device_of "$link") is removed from under the mounts" is_removed
  await "$both" "the other path has both queues" ".paths[$link].queues == 0 and .paths[1 - $link].queues == 2"
  expect_more_rounds "$both"
  ((link == 1)) || await "$single" "the mount with one path waits" '.state == "reconnecting"'
  rdma link add "$(device_of "$link")" type "$kind" netdev "$(interface_of "$link")"
  await "$both" "each path has a queue" '.paths | all(.up) and all(.queues == 1)'
  await "$single" "the mount with one path is back" '.state == "connected"'
  expect_more_rounds "$both"
  expect_more_rounds "$single"
done
touch "$scratch/enough"
for process in "${loads[@]}"; do wait "$process" || fail "a load failed: $(tail -n 20 "$scratch/fio.log")"; done
for mount in "$both" "$single"; do unmount_export "$mount"; done
stop_target
