#!/bin/bash
# Two links between two hosts: the target is reached over each of them, and what is done to one link
# (two_hosts_lib.sh) is not done to the other.
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"
start_two_hosts
address=0.0.0.0
start_target --export "$(export_spec disk 16M)"
port=${target##*:}

# received LINK: how many packets this host has received over it.
received() { rdma_count initiator rcvd_pkts "$1"; }

# expect_way LINK ADDRESS: what is read from ADDRESS comes over LINK: 16 MiB are 4096 packets. The end of an
# earlier connection may still take some on the other one.
expect_way() {
  local before other
  before=$(received "$1") other=$(received $((1 - $1)))
  timeout 60 "$rdmablk" copy --quiet --no-sparse "rdmablk://$2:$port/disk" "$scratch/copy" || fail "nothing can be read from $2"
  (($(received "$1") - before >= 4096)) || fail "link $1 did not carry what was read from $2"
  (($(received $((1 - $1))) - other < 100)) || fail "the other link than $1 carried what was read from $2"
}

# answers ADDRESS: nobody listens there, and the other host says so.
answers() { [[ $(timeout 2 bash -c "</dev/tcp/$1/9" 2>&1) == *refused* ]]; }

first=$RDMABLK_VM_PEER_ADDRESS second=$RDMABLK_VM_PEER_ADDRESS_1
expect_way 0 "$first"
expect_way 1 "$second"

link_down target 1
! answers "$second" || fail "a link that is down carries packets"
expect_way 0 "$first"
link_up target 1
expect_way 1 "$second"

lose_packets initiator 100 1
! answers "$second" || fail "a link that loses all packets carries some"
expect_way 0 "$first"
(($(packets_lost initiator 1) > 0)) || fail "link 1 has lost nothing"
repair_link initiator 1
expect_way 1 "$second"
link_down initiator
expect_way 1 "$second"
