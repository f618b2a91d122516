#!/bin/bash
# A mount rides through a cable that is cut and mended, also into one that loses packets: fio, which verifies
# what it writes, sees no error. Both hosts' network cards stay up, as behind a switch.
# shellcheck source=tests/e2e/two_hosts_ride_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_ride_lib.sh"

cut_cable() {
  lose_packets initiator 100
  lose_packets target 100
}

start_ride
for _ in {1..3}; do
  cut_cable
  await_loss
  repair_link initiator
  repair_link target
  await_return
done
cut_cable
await_loss
lose_packets initiator 1
lose_packets target 1
await_return
await_work
repair_link initiator
repair_link target
end_ride
