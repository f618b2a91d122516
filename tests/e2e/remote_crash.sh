#!/bin/bash
# Whatever was fsynced through the mount is on the disk when processes are killed and the power is cut, at
# moments that nobody chose. The disk forgets what it was not told to flush.
#
# Environment:
#   RDMABLK_TEST_BACKING   how the file is exported: direct (when not given), buffered or resident
#   MODES    who is killed: target, initiator (and the target then stopped in an orderly way or not), both,
#            power (nobody: the disk alone); all of them when not given
#   ROUNDS   how often, for each mode (3)
#   SEED     what all that is random follows from; a failure tells its own
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/faults_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/faults_lib.sh"

rounds=${ROUNDS:-3}
first_seed=${SEED:-$SRANDOM}
size=${SIZE:-32M}
start_remote

image=$scratch/image
acknowledged=$scratch/acknowledged
touch "$image"

# has_acknowledged COUNT, or the writer has ended.
has_acknowledged() {
  ! is_running "$writer" || { [[ -e $acknowledged ]] && (($(wc -l <"$acknowledged") > $1)); }
}

# choose_writer SEED: how it works. Three seeds in a row have all the ways to make something durable.
choose_writer() {
  local -a syncs=(fsync fdatasync dsync)
  arguments=(--seed "$1" --jobs $((RANDOM % 4 + 1)) --every $((RANDOM % 3 + 1))
    --sync "${syncs[$1 % 3]}")
  ((RANDOM % 2 == 0)) || arguments+=(--rewrite)
  ((RANDOM % 2 == 0)) || arguments+=(--direct)
}

start_writer() {
  rm -f "$acknowledged"
  "$tools_bin/rdmablk-record-writer" write "$image" --acknowledged "$acknowledged" "${arguments[@]}" \
    >"$scratch/writer.log" 2>&1 &
  writer=$!
  test_pids+=("$writer")
}

# kill_hard PID...: all at once, and waits until they are gone.
kill_hard() {
  local pid
  kill -KILL "$@"
  for pid in "$@"; do
    wait "$pid" 2>/dev/null || true
    wait_for_exit "$pid" 30 || fail "process $pid survives SIGKILL"
  done
}

# crash MODE
crash() {
  local daemon
  daemon=$(daemon_of "$image")
  case $1 in
    target) kill_hard "$target_pid" ;;
    initiator)
      kill_hard "$daemon"
      ((RANDOM % 2 == 0)) || stop_target
      ;;
    both) kill_hard "$target_pid" "$daemon" ;;
    power) ;;
  esac
  power_cut
}

# Ends what has survived, so that the next round begins with nothing.
clear_away() {
  local pid
  umount --lazy "$image"
  for pid in "$writer" "$target_pid" $(daemons | cut --delimiter ' ' --fields 1); do
    ! is_running "$pid" || kill_hard "$pid"
  done
  test_pids=()
}

# round MODE SEED
round() {
  local arguments writer most
  RANDOM=$2
  make_disk "$size"
  power_on --reorder "$2"
  start_target --export "$(export_of disk "$disk")"
  mount_export disk "$image"
  choose_writer "$2"
  most=$((RANDOM % 400 + 20))
  start_writer
  wait_until "records are durable" has_acknowledged "$most"
  is_running "$writer" || fail "the writer ended before anything was killed: $(cat "$scratch/writer.log")"
  crash "$1"
  clear_away
  "$tools_bin/rdmablk-record-writer" verify "$medium" --acknowledged "$acknowledged" --at-least 10 \
    >"$scratch/verified" 2>&1 ||
    fail "$(cat "$scratch/verified"); the writer: ${arguments[*]}; to repeat it: RDMABLK_TEST_BACKING=${RDMABLK_TEST_BACKING:-direct} MODES=$1 ROUNDS=1 SEED=$2"
  echo "$1: $(tail -n 1 "$scratch/verified") (${arguments[*]})"
}

for mode in ${MODES:-target initiator both power}; do
  for ((number = 0; number < rounds; ++number)); do
    round "$mode" $((first_seed + number))
  done
done
