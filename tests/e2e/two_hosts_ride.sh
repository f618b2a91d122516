#!/bin/bash
# A mount rides through a cable that is cut and mended, also into one that loses packets: fio, which verifies
# what it writes, sees no error. Both hosts' network cards stay up, as behind a switch.
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"
start_two_hosts
start_target --keepalive 1 --export "$(export_spec disk 16M)"
image=$scratch/image
touch "$image"
mount_export disk "$image" --reconnect-delay 0.5 --give-up 90

# work: until it is told that it is enough.
work() {
  until [[ -e $scratch/enough ]]; do
    verify_with_fio "$image" 16M --ioengine=libaio --iodepth=16 --rw=randwrite --bsrange=512-64k \
      --blockalign=512 --io_size=4M
    echo round >>"$scratch/rounds"
  done
}

rounds() { wc --lines <"$scratch/rounds"; }
works_on() { ! is_running "$worker" || (($(rounds) > $1)); }
status_of_mount() { "$rdmablk" timeouts "$image" --json; }
has_state() { [[ $(status_of_mount | jq --raw-output .state) == "$1" ]]; }

cut_cable() {
  lose_packets initiator 100
  lose_packets target 100
}

# wait_long WHAT COMMAND...: for what takes a device's time-outs.
wait_long() {
  local attempts=6
  until (wait_until "$@") 2>/dev/null; do ((attempts-- > 0)) || fail "waited in vain: $1: $(status_of_mount)"; done
}

: >"$scratch/rounds"
run_in_background work
worker=$!
wait_long "fio works" works_on 0
for _ in {1..3}; do
  cut_cable
  wait_long "the loss is noticed" has_state reconnecting
  repair_link initiator
  repair_link target
  wait_long "the mount is back" has_state connected
done
cut_cable
wait_long "the loss is noticed" has_state reconnecting
lose_packets initiator 1
lose_packets target 1
wait_long "the mount is back in spite of lost packets" has_state connected
wait_long "fio works on" works_on "$(rounds)"
repair_link initiator
repair_link target
touch "$scratch/enough"
wait "$worker" || fail "fio saw an error: $(tail -n 20 "$scratch/fio.log")"
echo "$(status_of_mount | jq .reconnects) reconnects, $(rounds) rounds of fio"
unmount_export "$image"
stop_target
