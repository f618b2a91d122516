#!/bin/bash
# fio writes and verifies over a cable between two hosts that is good, loses packets, or delivers them out of
# order: the device hides it, and the mount does not notice.
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"
start_two_hosts
start_target --export "$(export_spec disk 32M)"

image=$scratch/image
touch "$image"
mount_export disk "$image"

write_and_verify() {
  verify_with_fio "$image" 8M --ioengine=libaio --iodepth=16 --rw=randwrite --bsrange=512-64k --blockalign=512
}

# count HOST: what the device of a host noticed of packets that did not come, or not in their turn.
count() {
  if [[ $device == rxe0 ]]; then
    echo $(($(rdma_count "$1" rcvd_seq_err) + $(rdma_count "$1" completer_retry_err) +
      $(rdma_count "$1" out_of_seq_request) + $(rdma_count "$1" duplicate_request)))
  else
    echo $(($(kernel_count "$1" TcpRetransSegs) + $(kernel_count "$1" TcpExtTCPOFOQueue)))
  fi
}

counts() { echo "$(count initiator) $(count target)"; }

good=$(counts)
write_and_verify
expect_equal "what the devices noticed of a good cable" "$good" "$(counts)"

# expect_noticed BEFORE AFTER WHAT: both hosts did.
expect_noticed() {
  local -a before after
  read -ra before <<<"$1"
  read -ra after <<<"$2"
  ((after[0] > before[0] && after[1] > before[1])) || fail "the devices did not notice $3: $1, and then $2"
}

lose_packets initiator 1
lose_packets target 1
write_and_verify
lost_ones="$(packets_lost initiator) from the initiator, $(packets_lost target) from the target"
[[ ! " $lost_ones" =~ " 0 from" ]] || fail "packets lost: $lost_ones"
lossy=$(counts)
expect_noticed "$good" "$lossy" "loss"
echo "lost: $lost_ones; noticed: $good, then $lossy"

reorder_packets initiator 1 2
reorder_packets target 1 2
write_and_verify
reordered=$(counts)
expect_equal "packets lost by reordering" 0,0 "$(packets_lost initiator),$(packets_lost target)"
expect_noticed "$lossy" "$reordered" "reordering"
echo "reordered; noticed: $lossy, then $reordered"

repair_link initiator
repair_link target
write_and_verify
expect_equal "what the devices noticed of a repaired cable" "$reordered" "$(counts)"
unmount_export "$image"
stop_target
