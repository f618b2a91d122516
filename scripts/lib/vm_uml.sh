# Hosts that are user-mode Linux kernels: how scripts/vm finds and starts them.
# shellcheck shell=bash
# shellcheck disable=SC2154 # memory, ram_disk, hosts, links, job: of scripts/vm

readonly first_network_end=30 first_orders_end=40 # vm_cable's, plus the host's number

check_kernel() {
  if [[ -z ${RDMABLK_UML_KERNEL:-} ]]; then
    die "RDMABLK_UML_KERNEL is not set. It names a user-mode Linux kernel with RDMA drivers;" \
      "to get one, build linux-source-6.12 (bookworm-backports) with ARCH=um: docs/vm.md says how"
  fi
  if [[ ! -f $RDMABLK_UML_KERNEL || ! -x $RDMABLK_UML_KERNEL ]]; then
    die "RDMABLK_UML_KERNEL is '$RDMABLK_UML_KERNEL', which is no program that can be started;" \
      "docs/vm.md says how to build the user-mode Linux kernel that it should name"
  fi
  kernel_file=$(realpath "$RDMABLK_UML_KERNEL")
}

# Where the kernel puts the (unlinked) file that is the guest's memory: /dev/shm, if it has room
# and programs may be run from it. A container's often has neither.
choose_memory_directory() {
  local options available
  memory_directory=/dev/shm
  read -r options available < <(findmnt --raw --noheadings --bytes --output OPTIONS,AVAIL /dev/shm) || true
  if [[ ,${options:-noexec}, == *,noexec,* || ${available:-0} -lt $(numfmt --from=iec "$memory") ]]; then
    memory_directory=${job%/*}
  fi
}

# The numbers of the processors that we may use, one a line.
allowed_processors() {
  local list range
  list=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
  for range in ${list//,/ }; do
    seq "${range%-*}" "${range#*-}"
  done
}

# Chooses the processor for a guest: one that no other guest has, if there is any. The kernel and
# its processes take turns; spread over two processors, each turn waits for the other one to wake
# up, and system calls and page faults take five to ten times as long. The lock on the processor's
# directory in sysfs goes when the last process that holds it does, and leaves no file.
choose_processor() {
  local -a processors
  mapfile -t processors < <(allowed_processors)
  for processor in "${processors[@]}"; do
    exec {processor_lock}<"/sys/devices/system/cpu/cpu$processor" || continue
    ! flock --nonblock "$processor_lock" || return 0
    exec {processor_lock}<&-
  done 2>/dev/null
  processor=${processors[RANDOM % ${#processors[@]}]}
}

# The host's ends of the cables, as arguments of the kernel: vec0 and on, the last of which carries orders.
choose_cables() {
  local number end
  cables=()
  ((hosts > 1)) || return 0
  for ((number = 0; number <= links; ++number)); do
    end=$((first_network_end + 2 * number + $1))
    ((number < links)) || end=$((first_orders_end + $1))
    cables+=("vec$number:transport=fd,fd=$end,depth=128,mtu=9000,mac=02:00:00:00:0$number:0$1")
  done
}

# start_kernel HOST: output of the guest's command goes to descriptors 3 and 4. In $! is a process that ends with the guest, and ends it on SIGTERM.
start_kernel() {
  local directory=$job/host$1
  local -a launcher cables ram_disk_argument=()
  local memory_directory processor
  choose_launcher
  choose_memory_directory
  choose_processor
  choose_cables "$1"
  [[ -z $ram_disk ]] || ram_disk_argument=("brd.rd_size=$(($(numfmt --from=iec "$ram_disk") / 1024))") # in KiB
  # Measuring the CPU takes long and is of no use here: the delay loop, and RAID 6, which then must
  # not be used.
  TMPDIR=$memory_directory setsid taskset --cpu-list "$processor" "${launcher[@]}" \
    "$kernel_file" "mem=$memory" "uml_dir=$directory" umid=uml \
    rootfstype=hostfs rootflags=/ ro "init=$directory/init" con=null con0=null,fd:1 \
    ssl0=null,fd:3 ssl1=null,fd:4 "${cables[@]}" "${ram_disk_argument[@]}" lpj=30000000 initcall_blacklist=raid6_select_algo \
    </dev/null >"$directory/console" 2>&1 &
}
