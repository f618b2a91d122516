# The kernel's own block devices over the network, both sides in this guest: NVMe over RDMA and over TCP, and
# RNBD, all of them of /dev/ram0. Nothing is taken down: the guest ends with the measurement.
# shellcheck shell=bash
# shellcheck disable=SC2154 # address, device, workspace: of the caller

readonly ram_disk=/dev/ram0 subsystem=rdmablk-bench nvmet=/sys/kernel/config/nvmet
declare -A peer_devices=() # by subject
left_out=()

# leave_out SUBJECT WHY
leave_out() {
  left_out+=("$1")
  say "$1 is left out: $2"
}

# set_up_peer SUBJECT: puts its block device into peer_devices, or leaves it out.
set_up_peer() {
  local why
  if [[ ! -b $ram_disk ]]; then
    leave_out "$1" "this kernel has no RAM disk ($ram_disk)"
  elif ! "set_up_${1//-/_}" 2>"$workspace/peer.log"; then
    why=$(tail -n 1 "$workspace/peer.log")
    leave_out "$1" "${why:-it could not be set up}"
  else
    use_no_scheduler "${peer_devices[$1]}"
    check_bytes "$1" "${peer_devices[$1]}"
  fi
}

# refuse WHY: of a set-up; its last line on standard error is the reason.
refuse() {
  echo "$*" >&2
  return 1
}

# udev would choose none for NVMe; for such a fast device a scheduler only costs.
use_no_scheduler() { echo none >"/sys/block/${1#/dev/}/queue/scheduler"; }

set_up_nvme_rdma() { set_up_nvme rdma 4420; }
set_up_nvme_tcp() { set_up_nvme tcp 4421; }

# set_up_nvme TRANSPORT PORT
set_up_nvme() {
  local controller
  type -P nvme >/dev/null || refuse "nvme-cli is not installed" || return
  [[ -c /dev/nvme-fabrics ]] || refuse "this kernel has no NVMe over fabrics" || return
  make_subsystem || refuse "this kernel has no NVMe target (nvmet)" || return
  open_port "$1" "$2" || refuse "this kernel's NVMe target does not take $1" || return
  controller=$(nvme connect --transport="$1" --traddr="$address" --trsvcid="$2" --nqn="$subsystem" \
    --nr-io-queues=1 --queue-size=128 --output-format=json | jq --raw-output .device) || return
  await_block_device "/dev/${controller}n1" || return
  peer_devices[nvme-$1]=/dev/${controller}n1
}

# One subsystem, which both transports lead to.
make_subsystem() {
  mountpoint --quiet /sys/kernel/config || mount -t configfs configfs /sys/kernel/config || return
  [[ ! -d $nvmet/subsystems/$subsystem ]] || return 0
  mkdir "$nvmet/subsystems/$subsystem" "$nvmet/subsystems/$subsystem/namespaces/1" || return
  echo 1 >"$nvmet/subsystems/$subsystem/attr_allow_any_host" || return
  printf %s "$ram_disk" >"$nvmet/subsystems/$subsystem/namespaces/1/device_path" || return
  echo 1 >"$nvmet/subsystems/$subsystem/namespaces/1/enable"
}

# open_port TRANSPORT PORT
open_port() {
  local port=$nvmet/ports/$2
  mkdir "$port" && echo "$1" >"$port/addr_trtype" && echo ipv4 >"$port/addr_adrfam" &&
    echo "$address" >"$port/addr_traddr" && echo "$2" >"$port/addr_trsvcid" &&
    ln -s "$nvmet/subsystems/$subsystem" "$port/subsystems/$subsystem"
}

# The server opens what the path says, below its dev_search_path, which is / when the kernel has it built in.
set_up_rnbd() {
  local error control=/sys/class/rnbd-client/ctl/map_device
  [[ -e $control && -d /sys/class/rnbd-server ]] || refuse "this kernel has no RNBD client and server" || return
  error=$({ printf '%s\n' "sessname=bench path=ip:$address device_path=$ram_disk" >"$control"; } 2>&1) ||
    refuse_rnbd "${error##*: }" || return
  await_block_device /dev/rnbd0 || return
  peer_devices[rnbd]=/dev/rnbd0
}

# refuse_rnbd ERROR
refuse_rnbd() {
  case $device in
    siw*) refuse "RNBD does not work over soft-iWARP here ($1)" ;;
    *) refuse "its client cannot connect over $device ($1)" ;;
  esac
}

# await_block_device PATH: NVMe's appears a moment after the connection.
await_block_device() {
  local attempts=100
  until [[ -b $1 && $(blockdev --getsize64 "$1") != 0 ]]; do
    ((attempts-- > 0)) || refuse "its block device ($1) does not appear" || return
    sleep 0.05
  done
}

# check_bytes SUBJECT DEVICE: what is written there lies in the RAM disk, and what lies in the RAM disk is read there.
check_bytes() {
  copy_pattern "$2" "$ram_disk" || die "$1 does not write what it is told"
  copy_pattern "$ram_disk" "$2" || die "$1 does not read what was written"
}

# copy_pattern TO FROM: writes random bytes to one file and expects to read them from the other one.
copy_pattern() {
  local pattern=$workspace/pattern
  head --bytes=1M /dev/urandom >"$pattern"
  dd if="$pattern" of="$1" bs=256K seek=1 oflag=direct conv=notrunc status=none &&
    dd if="$2" bs=256K skip=1 count=4 iflag=direct status=none | cmp --quiet - "$pattern"
}
