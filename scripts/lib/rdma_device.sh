# Finds, or makes, the RDMA device that a demonstration runs on.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the caller reads what is set here
#
# choose_device NAME sets
#   device       its name
#   address      the IPv4 address to listen on
#   device_is    what it is, in words
#   runner       the command that programs are started with, as an array: for the software device
#                the script that preloads it, and nothing otherwise
#   made_link    the soft-RoCE link that was made and has to be deleted afterwards, or nothing

readonly software_device=soft0

# Devices that the kernel has: a line `NAME NETDEV` for each active port with a network interface.
kernel_devices() {
  rdma -j link show 2>/dev/null |
    jq -r '.[] | select(.state == "ACTIVE" and .netdev) | "\(.ifname) \(.netdev)"' 2>/dev/null || true
}

# first_address NETDEV: its first IPv4 address, or nothing.
first_address() {
  ip -j -4 address show dev "$1" 2>/dev/null | jq -r '[.[].addr_info[]?.local][0] // empty'
}

# A device without a device behind it (soft-RoCE, soft-iWARP) is a virtual one in sysfs.
is_virtual() { [[ $(realpath "/sys/class/infiniband/$1") == */devices/virtual/* ]]; }

# Programs reach a device by these; a NIC's driver does not load them by itself everywhere.
load_user_access() {
  [[ ! -c /dev/infiniband/rdma_cm ]] || return 0
  ((EUID != 0)) || modprobe --all --quiet ib_uverbs rdma_ucm || true
  [[ -c /dev/infiniband/rdma_cm ]]
}

use_device() { device=$1 address=$2 device_is=$3; }

# use_kernel_device WANTED: WANTED is a name, or nic, or virtual. Takes the first such device that
# has an address; fails when there is none.
use_kernel_device() {
  local name netdev kind found_address
  while read -r name netdev; do
    kind=nic
    ! is_virtual "$name" || kind=virtual
    found_address=$(first_address "$netdev")
    [[ $1 == "$name" || $1 == "$kind" ]] || continue
    [[ -n $found_address ]] || continue
    load_user_access || continue
    if [[ $kind == nic ]]; then
      use_device "$name" "$found_address" "an RDMA network card, $netdev"
    else
      use_device "$name" "$found_address" "the kernel's software RDMA on $netdev"
    fi
    return 0
  done < <(kernel_devices)
  return 1
}

# Puts soft-RoCE on the interface that the default route takes; fails where the kernel has none.
make_soft_roce() {
  local netdev name=rxe_rdmablk
  ((EUID == 0)) || return 1
  modprobe --quiet rdma_rxe || return 1
  netdev=$(ip -j -4 route show default | jq -r '.[0].dev // empty')
  [[ -n $netdev ]] || return 1
  rdma link add "$name" type rxe netdev "$netdev" || return 1
  made_link=$name
  use_kernel_device "$name"
}

use_software_device() {
  use_device "$software_device" 127.0.0.1 \
    "the software device of this project: one host, no network, for development"
  runner=(scripts/soft-device)
}

# choose_device [NAME]: NAME, or the best one there is.
choose_device() {
  runner=() made_link=''
  case ${1:-} in
    "$software_device") use_software_device ;;
    '') use_kernel_device nic || use_kernel_device virtual || make_soft_roce || use_software_device ;;
    *)
      use_kernel_device "$1" ||
        die "there is no active RDMA device '$1' with an IPv4 address here; there are:" \
          "$(kernel_devices | cut -d ' ' -f 1 | tr '\n' ' ')$software_device"
      ;;
  esac
}
