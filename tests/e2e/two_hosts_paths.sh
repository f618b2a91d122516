#!/bin/bash
# A mount uses two links to its target at once. Each is cut in turn, under fio, which verifies what it writes and
# sees no error: the queues go over the other link, and come back to their own when it is there again. So for a
# memory export and a file. Both links really carry the bytes, as the network interfaces count them.
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"

# paths_of MOUNT: as `rdmablk mounts --json` shows them.
paths_of() { "$rdmablk" mounts --json | jq --arg at "$1" '.mounts[] | select(.mount_point == $at) | .paths'; }

# has_paths MOUNT FILTER: whether jq says true of its paths.
has_paths() { [[ $(paths_of "$1" | jq "$2") == true ]]; }

# await_paths WHAT FILTER: of both mounts; takes a device's time-outs.
await_paths() {
  local mount attempts
  for mount in "$disk" "$file"; do
    attempts=6
    until (wait_until "$1" has_paths "$mount" "$2") 2>/dev/null; do
      ((attempts-- > 0)) || fail "waited in vain: $1: $(paths_of "$mount" | jq --compact-output .)"
    done
  done
}

await_both() { await_paths "each path has a queue" 'all(.up) and all(.queues == 1)'; }

# await_loss LINK: what went over it goes over the other one.
await_loss() { await_paths "link $1 is given up" ".[$1].up == false and .[$1].queues == 0 and .[1 - $1].queues == 2"; }

# work MOUNT: until it is told that it is enough.
work() {
  until [[ -e $scratch/enough ]]; do
    verify_with_fio "$1" 8M --ioengine=libaio --iodepth=16 --rw=randwrite --bsrange=512-64k --blockalign=512 \
      --io_size=2M --numjobs=2 --offset_increment=8M
    echo round >>"$1.rounds"
  done
}
rounds() { wc --lines <"$1.rounds"; }
has_worked_on() { ! is_running "${worker[$1]}" || (($(rounds "$1") > $2)); }

# await_work: one round that began afterwards, on both.
await_work() {
  local mount attempts before
  for mount in "$disk" "$file"; do
    before=$(($(rounds "$mount") + 1)) attempts=6
    until (wait_until "fio works on" has_worked_on "$mount" "$before") 2>/dev/null; do
      ((attempts-- > 0)) || fail "fio does not work on: $(paths_of "$mount" | jq --compact-output .)"
    done
    is_running "${worker[$mount]}" || fail "fio saw an error: $(tail -n 20 "$scratch/fio.log")"
  done
}

# sent LINK: bytes that this host's interface has sent.
sent() { ip --statistics --json link show dev "$(interface_of "$1")" | jq '.[0].stats64.tx.bytes'; }

# carried LINK: bytes of requests, of both mounts.
carried() {
  jq --slurp --argjson link "$1" 'map(.[$link] | .bytes_read + .bytes_written) | add' \
    <(paths_of "$disk") <(paths_of "$file")
}

# expect_both_carry: a moment's work moves both links' counts, by as much as the mounts say at least.
expect_both_carry() {
  local link carried_before=() sent_before=() more
  for link in 0 1; do
    carried_before[link]=$(carried "$link") sent_before[link]=$(sent "$link")
  done
  await_work
  for link in 0 1; do
    more=$(($(carried "$link") - carried_before[link]))
    ((more > 0)) || fail "no request went over link $link"
    (($(sent "$link") - sent_before[link] > 0)) || fail "link $link carried nothing of $more bytes"
  done
}

cut_link() { lose_packets initiator 100 "$1" && lose_packets target 100 "$1"; }
mend_link() { repair_link initiator "$1" && repair_link target "$1"; }

start_two_hosts
[[ -n ${RDMABLK_VM_PEER_ADDRESS_1:-} ]] || skip "it takes two links: scripts/vm --hosts 2 --links 2"
disk=$scratch/disk file=$scratch/file
declare -A worker
address=0.0.0.0
at target mkdir --parents "$scratch/files"
start_target --keepalive 1 --export disk=memory:16M,chunk=4M --export "file=file:$scratch/files/image,size=16M,direct=off"
port=${target##*:}
target=$RDMABLK_VM_PEER_ADDRESS:$port
for mount in "$disk" "$file"; do
  touch "$mount"
  mount_export "$(basename "$mount")" "$mount" --path "$RDMABLK_VM_PEER_ADDRESS_1:$port" --workers 2 \
    --reconnect-delay 0.5 --give-up 90
  : >"$mount.rounds"
done
await_both
for mount in "$disk" "$file"; do
  run_in_background work "$mount"
  worker[$mount]=$!
done
expect_both_carry
for link in 0 1; do
  cut_link "$link"
  await_loss "$link"
  await_work
  mend_link "$link"
  await_both
  expect_both_carry
  link_down initiator "$link"
  await_loss "$link"
  await_work
  link_up initiator "$link"
  await_both
  expect_both_carry
done
touch "$scratch/enough"
for mount in "$disk" "$file"; do
  wait "${worker[$mount]}" || fail "fio saw an error: $(tail -n 20 "$scratch/fio.log")"
  paths_of "$mount" | jq --compact-output '.[] | {address, device, bytes_read, bytes_written, failures}'
  unmount_export "$mount"
done
stop_target
