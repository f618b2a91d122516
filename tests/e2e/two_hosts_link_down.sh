#!/bin/bash
# A mount rides through a network interface that goes down and comes up again, on either host and on both: fio,
# which verifies what it writes, sees no error. Afterwards others can connect, too: neither end has spoiled
# its soft-RoCE port by what it wanted to say while that was down.
# shellcheck source=tests/e2e/two_hosts_ride_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_ride_lib.sh"

evictions() { grep --count 'evicted: nothing was heard' "$target_log" || true; }
has_evicted() { (($(evictions) > $1)); }

# ride_through HOST...: their interfaces go down. Both ends have given the connection up before they are back.
ride_through() {
  local host before
  before=$(evictions)
  for host in "$@"; do link_down "$host"; done
  await_loss
  wait_long "the target evicts the mount" has_evicted "$before"
  for host in "$@"; do link_up "$host"; done
  await_return
  await_work
  "$rdmablk" info "$(uri disk)" >/dev/null || fail "nobody can connect after $* went down and up"
}

start_ride
ride_through initiator
ride_through target
ride_through initiator target
end_ride
