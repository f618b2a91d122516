#!/bin/bash
# Process 1 of the guest that scripts/vm starts: makes a root to write in, the network and the RDMA
# device, runs the command, reports its exit status, and switches the guest off.
#
# It runs twice: first on the host's read-only root, then (argument `inside`) on the new one.
set -euo pipefail
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

readonly share_point=/run/rdmablk-vm # where the job's directory is, on the new root

# The host's files lie under an overlay in memory, which becomes the root.
enter_overlay() {
  local job=${0%/*}
  mount -t proc proc /proc
  mount -t tmpfs -o mode=755 tmpfs "$job/guest"
  cd "$job/guest"
  mkdir upper work root
  mount -t overlay -o "lowerdir=/,upperdir=$PWD/upper,workdir=$PWD/work" overlay root
  cd root
  mount_kernel_file_systems
  mkdir run/lock run/host ".$share_point"
  mount -t hostfs -o "$job" hostfs ".$share_point"
  pivot_root . run/host
  exec chroot . /bin/bash "$share_point/init" inside
}

mount_kernel_file_systems() {
  mount -t proc proc proc
  mount -t devtmpfs -o mode=755 dev dev
  mkdir -p dev/shm dev/pts
  mount -t sysfs sys sys
  mount -t tmpfs -o mode=755 run run
  mount -t tmpfs -o mode=1777 shm dev/shm
  mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts dev/pts
  mount -t cgroup2 cgroup2 sys/fs/cgroup
}

# What is left of the old root goes; device nodes get the links that udev would make.
finish_root() {
  umount -l /run/host
  ln -sfT /proc/self/fd /dev/fd
  ln -sfT /proc/self/mounts /etc/mtab
  chmod 666 /dev/fuse /dev/infiniband/* 2>/dev/null || true
  mount --bind "$share_point/cpuinfo" /proc/cpuinfo # perftest looks for a frequency
  if [[ -n $share ]]; then
    mount -t hostfs -o "$share" hostfs "$share"
  fi
}

# Both ends of a cable. There is nobody to clash with, so an address is good at once.
make_network() {
  echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
  ip -batch - <<END
link set lo up
link add v0 mtu 9000 type veth peer name v1 mtu 9000
address add $address/24 dev v0
address add $peer_address/24 dev v1
link set v0 up
link set v1 up
END
  rdma link add "${device}0" type "$device" netdev v0
}

# Runs the command with its own session. Its output takes a pipe, as it does on the host, and goes
# to the host by serial lines.
run_command() {
  local -a command environment writers
  mapfile -d '' -t command <"$share_point/command"
  mapfile -d '' -t environment <"$share_point/environment"
  stty -F /dev/ttyS0 raw
  stty -F /dev/ttyS1 raw
  mkfifo /run/stdout /run/stderr
  cat /run/stdout >/dev/ttyS0 &
  writers=($!)
  cat /run/stderr >/dev/ttyS1 &
  writers+=($!)
  watch "${writers[@]}" &
  status=0
  (
    ulimit -l unlimited
    cd "$directory"
    exec env -i "${environment[@]}" setsid --wait bash -c 'exec "$@"' bash "${command[@]}"
  ) </dev/null >/run/stdout 2>/run/stderr || status=$?
  kill_leftovers "${writers[@]}"
  wait "${writers[@]}"
}

# When the time is over, says on the console what hangs.
watch() {
  sleep "$timeout"
  : >"$share_point/timed-out"
  {
    echo "The command did not end within $timeout seconds. Processes:"
    ps -L -N -p 2 --ppid 2 -o pid,tid,ppid,stat,wchan:24,args # without the kernel's threads
  } >/dev/console
  echo w >/proc/sysrq-trigger
  switch_off
}

# kill_leftovers PID...: kills every process but this one, the given ones and the kernel's threads.
kill_leftovers() {
  local process
  for process in /proc/[0-9]*; do
    process=${process#/proc/}
    [[ " 1 $* " != *" $process "* && -e /proc/$process/exe ]] || continue
    kill -KILL "$process" 2>/dev/null || true
  done
}

switch_off() {
  sync
  echo o >/proc/sysrq-trigger
  sleep infinity
}

# A step of the set-up failed: the message is on the console, and the host reports it.
give_up() {
  echo "the guest's set-up failed" >/dev/console
  switch_off
}

trap give_up EXIT
if [[ ${1:-} != inside ]]; then
  enter_overlay
fi
# Assigned by the settings:
declare device address peer_address timeout share directory
# shellcheck source=/dev/null
source "$share_point/settings"
finish_root
make_network
run_command
echo "$status" >"$share_point/status"
switch_off
