#!/bin/bash
# Process 1 of a guest that scripts/vm starts: makes a root to write in, the network and the RDMA
# device, runs the command, reports its exit status, and switches the guest off. On host 2 of two it
# runs what host 1 orders instead.
#
# It runs twice: first on the host's read-only root, then (argument `inside`) on the new one. With
# `--init systemd` it leaves the place of process 1 to systemd, which runs it once more, as a service
# (argument `service`).
set -euo pipefail
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

readonly share_point=/run/rdmablk-vm # where the host's directory of the job is, on the new root
readonly orders_network=192.168.254

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

# In QEMU vm_qemu_init.sh has made the root.
prepare_overlay() {
  cd /
  mount_kernel_file_systems
  mkdir run/lock ".$share_point"
  mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 job "$share_point"
  exec /bin/bash "$share_point/init" inside
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
  if [[ $kernel == uml ]]; then umount -l /run/host; else load_modules; fi
  ln -sfT /proc/self/fd /dev/fd
  ln -sfT /proc/self/mounts /etc/mtab
  chmod 666 /dev/fuse /dev/infiniband/* 2>/dev/null || true
  [[ $kernel != uml ]] || mount --bind "$share_point/cpuinfo" /proc/cpuinfo # perftest looks for a frequency
  if [[ -n $share ]]; then
    mount_share
  fi
}

mount_share() {
  if [[ $kernel == uml ]]; then
    mount -t hostfs -o "$share" hostfs "$share"
  else
    mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 share "$share"
  fi
}

# The host's modules are of another kernel.
load_modules() {
  mkdir --parents /lib/modules
  mount --bind "$kernel_directory/lib/modules" /lib/modules
  modprobe --all virtio_console veth rdma_rxe rdma_ucm ib_uverbs fuse loop ext4 sch_netem
}

# There is nobody to clash with, so an address is good at once. A link that goes down keeps its IPv6 addresses,
# as it keeps the others.
make_network() {
  local link
  echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
  echo 1 >/proc/sys/net/ipv6/conf/default/keep_addr_on_down
  ip link set lo up
  for ((link = 0; link < links; ++link)); do
    make_interface "$link"
    if ((hosts == 1)); then lay_own_cable "$link"; else plug_in_cable "$link"; fi
  done
  ((hosts == 1)) || make_way_for_orders
  for ((link = 0; link < links; ++link)); do
    await_link_local "v$link"
    rdma link add "$device$link" type "$device" netdev "v$link"
  done
}

# make_interface LINK: one end of a veth pair, the other one of which is farLINK. Its hardware address says what
# its link-local one is. scripts/vm tells the addresses to the command.
make_interface() {
  ip -batch - <<END
link add v$1 mtu 9000 address 02:00:00:00:1$1:0$host type veth peer name far$1 mtu 9000
address add 192.168.7$((7 + $1)).$host/24 dev v$1
address add fd7$((7 + $1))::$host/64 dev v$1
END
}

# lay_own_cable LINK: within one host. The far end has an address as well.
lay_own_cable() {
  ip -batch - <<END
address add 192.168.7$((7 + $1)).$((3 - host))/24 dev far$1
link set v$1 up
link set far$1 up
END
}

# plug_in_cable LINK: to the other host. The network card vecLINK cannot come up again once it was down, so the
# test's interface, vLINK, is behind a bridge.
plug_in_cable() {
  echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore # or the bridge answers for vLINK, where no RDMA is
  ip -batch - <<END
link add bridge$1 type bridge
link set vec$1 master bridge$1
link set far$1 master bridge$1
link set vec$1 up
link set far$1 up
link set bridge$1 up
link set v$1 up
END
}

# The last network card carries orders.
make_way_for_orders() {
  ip -batch - <<END
link set vec$links name orders
address add $orders_network.$host/24 dev orders
link set orders up
END
  printf '#!/bin/sh\nexec perl %s/vm_peer run %s "$@"\n' "$share_point" "$orders_network.$((3 - host))" >"$share_point/peer"
  chmod +x "$share_point/peer"
}

# await_link_local INTERFACE: the kernel gives it its link-local address a moment after it came up.
await_link_local() {
  until [[ $(ip -6 -oneline address show dev "$1" scope link -tentative) == *fe80:* ]]; do
    sleep 0.01
  done
}

# enter_environment COMMAND...: as the caller of scripts/vm would run it; does not return.
enter_environment() {
  local -a environment
  mapfile -d '' -t environment <"$share_point/environment"
  ulimit -l unlimited
  cd "$directory"
  exec env -i "${environment[@]}" setsid --wait bash -c 'exec "$@"' bash "$@"
}

serve_peer() { enter_environment perl "$share_point/vm_peer" serve "$orders_network.$host"; }

# What host 2 does until it is switched off with host 1.
serve_until_end() {
  # Host 1 switches itself off when the time is over; tell before that.
  list_processes_after $((timeout - 1)) &
  (serve_peer >/dev/console 2>&1)
  give_up
}

# Runs the command with its own session. Its output takes a pipe, as it does on the host, and goes
# to the host by serial lines.
run_command() {
  local -a command writers
  local out=/dev/ttyS0 err=/dev/ttyS1
  mapfile -d '' -t command <"$share_point/command"
  if [[ $kernel == uml ]]; then
    stty -F "$out" raw
    stty -F "$err" raw
  else
    out=$(await_port out) err=$(await_port err)
  fi
  mkfifo /run/stdout /run/stderr
  cat /run/stdout >"$out" &
  writers=($!)
  cat /run/stderr >"$err" &
  writers+=($!)
  watch "${writers[@]}" &
  status=0
  (enter_environment "${command[@]}") </dev/null >/run/stdout 2>/run/stderr || status=$?
  kill_leftovers "${writers[@]}"
  wait "${writers[@]}"
}

# await_port NAME: prints the path of a port to the host, once the driver has made it.
await_port() {
  local name_file
  until name_file=$(grep --line-regexp --files-with-matches "$1" /sys/class/virtio-ports/*/name 2>/dev/null); do
    sleep 0.05
  done
  name_file=${name_file%/name}
  echo "/dev/${name_file##*/}"
}

# When the time is over, says on the console what hangs.
watch() {
  sleep "$((timeout > SECONDS ? timeout - SECONDS : 1))"
  : >"$share_point/timed-out"
  list_processes
  switch_off
}

list_processes_after() {
  sleep "$1"
  list_processes
}

list_processes() {
  {
    echo "The command did not end within $timeout seconds. Processes:"
    ps -L -N -p 2 --ppid 2 -o pid,tid,ppid,stat,wchan:24,args # without the kernel's threads
  } >/dev/console
  echo w >/proc/sysrq-trigger
}

# kill_leftovers PID...: kills every process but this one, the given ones and the kernel's threads; under
# systemd only what belongs to the command's service.
kill_leftovers() {
  local process
  for process in $(own_processes); do
    [[ " 1 $$ $* " != *" $process "* && -e /proc/$process/exe ]] || continue
    kill -KILL "$process" 2>/dev/null || true
  done
}

own_processes() {
  local group
  if [[ $init == systemd ]]; then
    IFS=: read -r _ _ group </proc/self/cgroup
    cat "/sys/fs/cgroup$group/cgroup.procs"
  else
    (cd /proc && echo [0-9]*)
  fi
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

run_to_end() {
  run_command
  echo "$status" >"$share_point/status"
  [[ $shutdown == no ]] || shut_down
  switch_off
}

# shut_down: does not return. systemd ends this process, and what it has started last of all.
shut_down() {
  trap - EXIT
  watch &
  systemctl poweroff --no-block
  exec sleep infinity
}

trap give_up EXIT
if [[ ${1:-} != @(inside|service) ]]; then
  [[ $0 != /rdmablk-vm-init ]] || prepare_overlay
  enter_overlay
fi
# Assigned by the settings:
declare kernel kernel_directory device hosts links init shutdown host timeout share directory
# shellcheck source=/dev/null
source "$share_point/settings"
[[ $1 != service ]] || run_to_end
finish_root
make_network
if ((hosts > 1)); then
  if ((host > 1)); then serve_until_end; fi
  (serve_peer >/dev/console 2>&1) &
  perl "$share_point/vm_peer" await "$orders_network.$((3 - host))" >/dev/console 2>&1
fi
if [[ $init == systemd ]]; then
  # shellcheck source=scripts/lib/vm_systemd.sh
  source "$share_point/vm_systemd.sh"
  become_systemd
fi
run_to_end
