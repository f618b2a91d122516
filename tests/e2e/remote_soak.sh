#!/bin/bash
# Load, faults, mounts and unmounts side by side for a while; then nothing may be left of them: the target's
# own counts and /proc agree that it has what it had before.
#
# Environment:
#   SECONDS_OF_SOAK   how long (3)
#   SEED              what decides what happens when; a failure tells its own
#   DEVICE_FAULTS     what the software device does wrong meanwhile (common/softverbs/faults/README.md)
# shellcheck source=tests/e2e/counts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/counts_lib.sh"
time=${SECONDS_OF_SOAK:-3}
seed=${SEED:-$SRANDOM}
RANDOM=$((seed % 32768))
start_remote
[[ $backing != memory ]] || make_disks
kinds=(memory direct resident)

specs=()
for backing in "${kinds[@]}"; do specs+=(--export "$(export_spec "$backing" 16M)"); done
start_target --keepalive 1 "${specs[@]}"

if [[ -n ${DEVICE_FAULTS:-} ]]; then
  export SOFTVERBS_FAULTS=$DEVICE_FAULTS SOFTVERBS_SEED=$seed
fi

resident_kib() { awk '/^VmRSS:/ { print $2 }' "/proc/$target_pid/status"; }

# visit KIND: mounts, works, and leaves, in order or not.
visit() {
  local kind=$1 image=$scratch/image.$1 pid
  mount_export "$kind" "$image" --reconnect-delay 0.2 --give-up 30 --take-over
  (cd "$scratch" && fio --name="$kind" --filename="$image" --size=16M --direct=1 --verify=crc32c \
    --verify_fatal=1 --ioengine=libaio --iodepth=8 --rw=randwrite --bsrange=512-64k --blockalign=512 \
    --io_size=$((1 + RANDOM % 8))M --fsync=32) >"$scratch/fio.$kind" 2>&1 ||
    fail "fio on $kind: $(tail -n 20 "$scratch/fio.$kind")"
  pid=$(daemon_of "$image")
  case $((RANDOM % 4)) in
    0)
      kill -KILL "$pid"
      wait_for_exit "$pid" 30 || fail "SIGKILL did not end the daemon of $kind"
      umount --lazy "$image"
      echo killed >>"$scratch/done"
      ;;
    1)
      kill -STOP "$pid"
      sleep 0.$((RANDOM % 10))
      kill -CONT "$pid"
      echo stopped >>"$scratch/done"
      unmount_export "$image"
      ;;
    *)
      unmount_export "$image"
      echo unmounted >>"$scratch/done"
      ;;
  esac
}

# actor KIND SEED: visits until it is time.
actor() {
  RANDOM=$(($2 % 32768))
  while (($(date +%s) < end)); do visit "$1"; done
}

# stranger SEED: asks, measures, and goes away, sometimes in the middle.
stranger() {
  RANDOM=$(($1 % 32768))
  while (($(date +%s) < end)); do
    case $((RANDOM % 3)) in
      0) "$rdmablk" list "rdmablk://$target" >/dev/null 2>&1 ;;
      1) "$rdmablk" info "$(uri "${kinds[RANDOM % 3]}")" >/dev/null 2>&1 ;;
      2)
        # In a shell of its own: bash tells of what SIGKILL ended.
        (timeout --signal=KILL 0.$((1 + RANDOM % 8)) "$rdmablk" bench "$(uri "${kinds[RANDOM % 3]}")" --time 1) \
          >/dev/null 2>&1
        ;;
    esac 2>/dev/null || true
    echo asked >>"$scratch/done"
  done
}

for kind in "${kinds[@]}"; do touch "$scratch/image.$kind"; done
: >"$scratch/done"

# What is opened once and kept.
for kind in "${kinds[@]}"; do visit "$kind"; done
before=
# A device lets go of a peer a moment after the target has.
has_settled() {
  local now
  now=$(left)
  [[ $now == "$before" && $now == *'sessions=0 '*'draining=0 '* ]] && return
  before=$now
  return 1
}
wait_until "the first sessions are over" has_settled
memory_before=$(resident_kib)

end=$(($(date +%s) + time))
workers=()
for kind in "${kinds[@]}"; do
  actor "$kind" $((seed + ${#workers[@]})) &
  workers+=($!)
  test_pids+=($!)
done
stranger "$seed" &
workers+=($!)
test_pids+=($!)
for pid in "${workers[@]}"; do wait "$pid" || fail "seed $seed: a worker failed"; done

# The target hears of those that were killed within three intervals.
nothing_left() { [[ $(left) == "$before" ]]; }
(wait_until "nothing is left" nothing_left) || fail "seed $seed: this was there before, and that is there now:
$(diff <(echo "$before") <(left))"
memory_after=$(resident_kib)
# A sanitizer's runtime holds on to memory.
grep --quiet 'lib[at]san' "/proc/$target_pid/maps" || ((memory_after < memory_before + 16384)) ||
  fail "seed $seed: the target grew from $memory_before KiB to $memory_after KiB"
sort "$scratch/done" | uniq --count
echo "the target: $memory_before KiB before, $memory_after KiB after; $(tail -n +1 <<<"$before" | head -n 1)"
stop_target
