# What the end-to-end tests on two hosts share (scripts/vm --hosts 2): a cable to pull and to spoil. A test
# sources this file in place of remote_lib.sh and works as it would with that one: the target runs on the
# other host, mounts and fio on this one. `e2e/rxe2/NAME` and `e2e/siw2/NAME` run it (rdmablk_add_two_hosts_test
# in CMakeLists.txt).
#
#   start_two_hosts              in place of start_remote
#   at HOST COMMAND...           runs a command; HOST is `initiator`, this one, or `target`, the other one.
#                                Output and exit status are the command's; standard input is not passed on
#   link_down HOST [LINK]        HOST's interface is taken down: nothing comes in, and what would go out has no
#   link_up HOST [LINK]          route and fails; the kernel reports a port event
#   lose_packets HOST PERCENT [LINK]
#                                of what HOST sends, so much is lost. For both directions: one call for each
#   reorder_packets HOST PERCENT MILLISECONDS [LINK]
#                                so much of what HOST sends arrives so much later, behind what was sent after it
#   repair_link HOST [LINK]      nothing of this happens any more; the counts of what did are lost
#   packets_lost HOST [LINK]     how many packets lose_packets took from HOST since it was called
#   rdma_count HOST COUNTER [LINK]
#                                a counter of HOST's soft-RoCE device, as rdma-statistic(8) has it:
#                                sent_pkts, rcvd_seq_err, completer_retry_err, out_of_seq_request, ...
#   kernel_count HOST COUNTER    a counter of HOST's TCP, below soft-iWARP, as nstat(8) has it:
#                                TcpRetransSegs, TcpExtTCPOFOQueue, ...
#
# LINK is 0, the only one, when not given. A test that is registered with LINKS 2 has another one, 1: the
# interface v1 with the device rxe1 or siw1, and variables that end in _1 (scripts/vm). A link that went down
# and up again has the addresses that it had.
#
# Orders to the other host take a way of their own and arrive whatever the cable does. `kill` with the process
# numbers that start_target and run_in_background leave reaches a process of the other host as well, but for
# KILL and STOP, which a process cannot pass on: kill_target knows, and for others there is
# `at target pkill -STOP rdmablk-target`. Both hosts see the files that were there when they started and none
# of each other's changes; $scratch exists on both.
# shellcheck shell=bash
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"

interface=${RDMABLK_TEST_INTERFACE:-v0}
device=${RDMABLK_TEST_DEVICE:-rxe0}

start_two_hosts() {
  [[ -n ${RDMABLK_VM_PEER:-} ]] || skip "it takes two hosts: scripts/vm --hosts 2"
  start_remote
}

at() {
  local host=$1
  shift
  case $host in
    initiator) "$@" ;;
    target) at_target "$@" ;;
    *) fail "at takes initiator or target, not '$host'" ;;
  esac
}

# interface_of [LINK], device_of [LINK]: their names, the same on both hosts.
interface_of() { echo "${interface%0}${1:-0}"; }
device_of() { echo "${device%0}${1:-0}"; }

link_down() { at "$1" ip link set "$(interface_of "${2:-}")" down; }

# The kernel makes the link-local address anew.
link_up() {
  local name
  name=$(interface_of "${2:-}")
  at "$1" ip link set "$name" up
  wait_until "$name of the $1 has its addresses" has_link_local "$1" "$name"
}

# has_link_local HOST INTERFACE
has_link_local() { [[ $(at "$1" ip -6 -oneline address show dev "$2" scope link -tentative) == *fe80:* ]]; }

# spoil_link HOST LINK ARGUMENT...: as the arguments of netem say, with counts that begin anew.
spoil_link() {
  repair_link "$1" "$2" 2>/dev/null || true
  at "$1" tc qdisc add dev "$(interface_of "$2")" root netem limit 10000 "${@:3}"
}

lose_packets() { spoil_link "$1" "${3:-}" loss "$2%"; }

# netem holds back what it does not let overtake.
reorder_packets() { spoil_link "$1" "${4:-}" delay "$3ms" reorder "$((100 - $2))%"; }

repair_link() { at "$1" tc qdisc delete dev "$(interface_of "${2:-}")" root; }

packets_lost() { at "$1" tc -statistics -json qdisc show dev "$(interface_of "${2:-}")" root | jq '.[0].drops'; }

rdma_count() {
  at "$1" rdma --json statistic show link "$(device_of "${3:-}")/1" | jq --arg name "$2" '.[0][$name]'
}

kernel_count() { at "$1" nstat --ignore --json "$2" | jq --arg name "$2" '.kernel[$name] // 0'; }
