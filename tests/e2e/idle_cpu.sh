#!/bin/bash
# Mounts and targets that nobody uses take no processor: in ten seconds less than a thousandth of one, of all threads
# together, keepalives and all. Also right after they were used, when threads may spin.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"

readonly seconds=10
readonly most=$((seconds * 1000000)) # nanoseconds: a thousandth

# cpu_time PID: nanoseconds that its threads have run. A kernel without schedstat shows ticks of 10 ms.
cpu_time() {
  if [[ -r /proc/self/schedstat ]]; then
    cat /proc/"$1"/task/*/schedstat | awk '{ sum += $1 } END { printf "%.0f", sum }'
  else
    sed 's/.*) //' "/proc/$1/stat" | awk '{ printf "%.0f", ($12 + $13) * 10000000 }'
  fi
}

# use FILE: something to do for the workers, so that they spin afterwards.
use() {
  fio --name=use --filename="$1" --size=16M --direct=1 --ioengine=libaio --bs=4k --rw=randrw --iodepth=32 \
    --number_ios=4000 --output="$scratch/fio.log" || fail "fio: $(tail "$scratch/fio.log")"
}

# busy_for NAME=PID...: those that ran for too long in the next seconds.
busy_for() {
  local process time
  local -A before
  for process in "$@"; do before[$process]=$(cpu_time "${process#*=}"); done
  sleep "$seconds" # it is the time that matters here: no event will come
  for process in "$@"; do
    time=$(($(cpu_time "${process#*=}") - ${before[$process]}))
    echo "${process%=*} ran for $((time / 1000)) us in $seconds s" >&2
    ((time <= most)) || echo "${process%=*}"
    is_running "${process#*=}" || echo "${process%=*} has ended"
  done
}

# expect_idle NAME=PID...: what is busy is so each time, and what the machine is to blame for is not.
expect_idle() {
  local busy tries=3
  while busy=$(busy_for "$@") && [[ -n $busy ]]; do
    ((--tries > 0)) || fail "that is more than $((most / 1000)) us: ${busy//$'\n'/, }"
  done
}

start_remote
start_target --export "$(export_spec disk 64M)"
touch "$scratch/null" "$scratch/image" "$scratch/long"
mount_image --null 64M "$scratch/null"
mount_export disk "$scratch/image"
mount_image --null 64M "$scratch/long" -o spin=1000
for file in null image long; do use "$scratch/$file"; done
expect_idle "target=$target_pid" "null mount=$(daemon_of "$scratch/null")" \
  "mount=$(daemon_of "$scratch/image")" "mount that spins for 1 ms=$(daemon_of "$scratch/long")"
for file in null image long; do unmount_image "$scratch/$file"; done
stop_target
