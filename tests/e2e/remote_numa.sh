#!/bin/bash
# On a machine with several NUMA nodes a mount's workers run near the device, unless that takes processors
# that they need or may not use. The nodes are made up: in a namespace of its own this test sees another /sys.
if [[ -z ${RDMABLK_TEST_OWN_SYS:-} ]]; then
  RDMABLK_TEST_OWN_SYS=yes exec unshare --mount "$0" "$@"
fi
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"

# own_cpus: those that this script may use, one a line.
own_cpus() {
  local range
  for range in $(taskset --cpu-list --pid $$ | sed 's/.*: //; s/,/ /g'); do
    seq "${range%-*}" "${range#*-}"
  done
}

# nodes LIST...: the processors of node 0, node 1, ...
nodes() {
  local number=0 list
  rm -rf "$scratch/sys/devices"
  for list in "$@"; do
    mkdir --parents "$scratch/sys/devices/system/node/node$number"
    echo "$list" >"$scratch/sys/devices/system/node/node$number/cpulist"
    number=$((number + 1))
  done
}

# allowed PID: where the threads named worker-N of a process may run, each list once.
allowed() {
  local task
  for task in "/proc/$1/task"/*; do
    [[ $(<"$task/comm") != worker-* ]] || awk '$1 == "Cpus_allowed_list:" { print $2 }' "$task/status"
  done | sort --unique
}

# expect_workers_on LIST LOGGED ARGUMENT...: of a mount with these arguments. LOGGED is a number of lines.
expect_workers_on() {
  local list=$1 logged=$2
  shift 2
  mount_image_logging "$scratch/log" "$(uri disk)" "$image" --log-level debug "$@"
  expect_equal "processors of the workers ($*)" "$list" "$(allowed "$(daemon_of "$image")")"
  expect_equal "lines that tell of it ($*)" "$logged" "$(grep --count 'NUMA node 1' "$scratch/log")"
  verify_with_fio "$image" 1M --rw=randwrite --bs=4k
  unmount_image "$image"
}

start_remote
mapfile -t own < <(own_cpus)
((${#own[@]} > 1)) || skip "it takes two processors"
all=$(awk '$1 == "Cpus_allowed_list:" { print $2 }' "/proc/$$/status")
first=${own[0]} last=${own[-1]}
others=$(IFS=,; echo "${own[*]:0:${#own[@]}-1}")
image=$scratch/image
touch "$image"
start_target --export disk=memory:4M

device=$scratch/sys/class/infiniband/${RDMABLK_TEST_DEVICE:-soft0}/device
mkdir --parents "$device"
echo 1 >"$device/numa_node"
mount --bind "$scratch/sys" /sys

nodes "$others" "$last"
expect_workers_on "$last" 1 --workers 1
# Two would get in each other's way there.
expect_workers_on "$all" 0 --workers 2
# Where the user wants them: not there, or there alone.
run_with=(taskset --cpu-list "$first")
expect_workers_on "$first" 0 --workers 1
run_with=(taskset --cpu-list "$last")
expect_workers_on "$last" 0 --workers 1
run_with=()

# One node, or none that is known.
echo 0 >"$device/numa_node"
nodes "$all"
expect_workers_on "$all" 0 --workers 1
echo -1 >"$device/numa_node"
nodes "$others" "$last"
expect_workers_on "$all" 0 --workers 1
stop_target
