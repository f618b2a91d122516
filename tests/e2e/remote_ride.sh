#!/bin/bash
# A mount rides through restarts of its target, in order or by SIGKILL: fio, which verifies what it writes,
# sees no error.
#
# Environment:
#   RESTARTS   how many (20)
# shellcheck source=tests/e2e/keeper_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/keeper_lib.sh"
restarts=${RESTARTS:-20}
start_remote
choose_port
start_keeper --export "$(export_spec disk 16M)"
image=$scratch/image
touch "$image"
mount_export disk "$image" --reconnect-delay 0.2 --give-up 60

# work: until it is told that it is enough.
work() {
  until [[ -e $scratch/enough ]]; do
    verify_with_fio "$image" 16M --ioengine=libaio --iodepth=16 --rw=randwrite --bsrange=512-64k \
      --blockalign=512 --io_size=8M --fsync=64
    echo round >>"$scratch/rounds"
  done
}

rounds() { wc --lines <"$scratch/rounds"; }
reconnects() { "$rdmablk" timeouts "$image" --json | jq .reconnects; }
has_come_back() { is_running "$worker" && (($(reconnects) >= $1)); }
has_begun() { ! cmp --quiet --bytes=16M "$image" /dev/zero; }

: >"$scratch/rounds"
run_in_background work
worker=$!
wait_until "fio works" has_begun
for ((i = 1; i <= restarts; ++i)); do
  restart_target "$( ((i % 2)) && echo KILL || echo TERM)"
  (wait_until "the mount is back after restart $i" has_come_back "$i") || fail "$("$rdmablk" timeouts "$image")"
done
touch "$scratch/enough"
wait "$worker" || fail "fio saw an error: $(tail -n 20 "$scratch/fio.log")"
echo "$restarts restarts, $(rounds) rounds of fio"
unmount_export "$image"
stop_keeper
