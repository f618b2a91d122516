# What the tests share in which a mount on two hosts rides through an outage while fio works on it. A test
# sources this file in place of two_hosts_lib.sh.
#
#   start_ride       the target, a mount ($image), and fio, which verifies what it writes, over and over
#   await_loss       returns when the mount has noticed that its connection is gone
#   await_return     returns when it is back
#   await_work       returns when fio has worked on
#   end_ride         fio must have seen no error
# shellcheck shell=bash
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"

image=
worker=

start_ride() {
  start_two_hosts
  start_target --keepalive 1 --export "$(export_spec disk 16M)"
  image=$scratch/image
  touch "$image"
  mount_export disk "$image" --reconnect-delay 0.5 --give-up 90
  : >"$scratch/rounds"
  run_in_background work
  worker=$!
  wait_long "fio works" works_on 0
}

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

# wait_long WHAT COMMAND...: for what takes a device's time-outs.
wait_long() {
  local attempts=6
  until (wait_until "$@") 2>/dev/null; do ((attempts-- > 0)) || fail "waited in vain: $1: $(status_of_mount)"; done
}

await_loss() { wait_long "the loss is noticed" has_state reconnecting; }

await_return() { wait_long "the mount is back" has_state connected; }
await_work() { wait_long "fio works on" works_on "$(rounds)"; }

end_ride() {
  touch "$scratch/enough"
  wait "$worker" || fail "fio saw an error: $(tail -n 20 "$scratch/fio.log")"
  echo "$(status_of_mount | jq .reconnects) reconnects, $(rounds) rounds of fio"
  unmount_export "$image"
  stop_target
}
