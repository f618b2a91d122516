#!/bin/bash
# One of two links to the target falls silent while both hosts go on knowing their neighbours, as behind a switch that
# answers for them: nobody says that anything is wrong. By TCP the words that connect go another way, and still get
# through. The path is taken for down all the same, for as long as it is; the other one does the work; and who comes
# new begins with the other one.
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"

# paths_of MOUNT, has_paths MOUNT FILTER
paths_of() { "$rdmablk" mounts --json | jq --arg at "$1" '.mounts[] | select(.mount_point == $at) | .paths'; }
has_paths() { [[ $(paths_of "$1" | jq "$2") == true ]]; }

# await_paths WHAT MOUNT FILTER: takes a device's time-outs.
await_paths() {
  local attempts=6
  until (wait_until "$1" has_paths "$2" "$3") 2>/dev/null; do
    ((attempts-- > 0)) || fail "waited in vain: $1: $(paths_of "$2" | jq --compact-output .)"
  done
}

# keep_neighbour HOST OTHER
keep_neighbour() {
  local where
  where=$(at "$2" ip -4 -json address show dev "$interface" | jq --raw-output '.[0].addr_info[0].local')
  at "$1" ip neigh replace "$where" lladdr "$(at "$2" cat "/sys/class/net/$interface/address")" dev "$interface" nud permanent
}

# mount_both NAME: with a path over each link.
mount_both() {
  touch "$scratch/$1"
  "$rdmablk" mount --quiet "rdmablk://$place:$port/$1" "$scratch/$1" --path "$RDMABLK_VM_PEER_ADDRESS_1:$port" \
    --workers 2 --reconnect-delay 0.5 --give-up 90
}

# work MOUNT: requests on both queues.
work() {
  verify_with_fio "$1" 8M --ioengine=libaio --iodepth=16 --rw=randwrite --bs=64k --numjobs=2 --offset_increment=8M
}

start_two_hosts
[[ -n ${RDMABLK_VM_PEER_ADDRESS_1:-} ]] || skip "it takes two links: scripts/vm --hosts 2 --links 2"
address=0.0.0.0
start_target --keepalive 1 --export disk=memory:16M --export late=memory:16M
port=${target##*:}
place=$RDMABLK_VM_PEER_ADDRESS
[[ ${RDMABLK_CM:-rdmacm} != tcp ]] || place=192.168.254.2 # of the network that orders take
keep_neighbour initiator target
keep_neighbour target initiator

disk=$scratch/disk late=$scratch/late
readonly apart='all(.up) and all(.queues == 1)' together='.[0].up == false and .[0].queues == 0 and .[1].queues == 2'
mount_both disk
await_paths "each path has a queue" "$disk" "$apart"
work "$disk"

lose_packets initiator 100
lose_packets target 100
work "$disk"
await_paths "the silent path is down" "$disk" "$together"
failures=$(paths_of "$disk" | jq '.[0].failures')
for round in 1 2 3; do
  work "$disk"
  has_paths "$disk" '.[0].up == false' || fail "the silent path is taken for one that works, in round $round"
done
expect_equal "how often the path failed" "$failures" "$(paths_of "$disk" | jq '.[0].failures')"
expect_error "failure connection.*RDMA" "$rdmablk" doctor "$place:$port" --timeout 3
mount_both late
await_paths "who comes new takes the other path" "$late" "$together"
work "$late"

repair_link initiator
repair_link target
for image in "$disk" "$late"; do
  await_paths "each path has a queue again" "$image" "$apart"
  work "$image"
  unmount_image "$image"
done
stop_target
