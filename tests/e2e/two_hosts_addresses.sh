#!/bin/bash
# Two hosts with two links: the addresses by which a target is reached, and the device that is asked for.
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"
start_two_hosts

link_local=$RDMABLK_VM_PEER_LINK_LOCAL     # "fe80::...%v0", the interface is this host's
link_local_1=$RDMABLK_VM_PEER_LINK_LOCAL_1
encoded=${link_local/\%/%25}

# serve ADDRESS: a target with one export listens there.
serve() {
  address=$1
  start_target --export "$(export_spec disk 8M)"
  port=${target##*:}
}

# lists WHAT HOST [OPTION...]: the target has its export.
lists() {
  local what=$1 host=$2
  shift 2
  expect_match "$what" 'disk +memory' "$("$rdmablk" list "$host:$port" "$@")"
}

# refuses PATTERN HOST [OPTION...]
refuses() {
  local pattern=$1 host=$2
  shift 2
  expect_fail 1 "$pattern" "$rdmablk" list "$host:$port" "$@"
}

serve '[::]'
lists "by IPv6" "[$RDMABLK_VM_PEER_ADDRESS6]"
lists "by a link-local address" "[$link_local]"
lists "by a link-local address as URIs have it" "[$encoded]"
lists "by the other link's" "[$link_local_1]"

# Each of these has an address of the peer's family, on its link.
for link in 0 1; do
  peer=RDMABLK_VM_PEER_ADDRESS6
  ((link == 0)) || peer+=_1
  lists "over device $link" "[${!peer}]" --device "$(device_of $link)"
done
lists "over a port" "[$RDMABLK_VM_PEER_ADDRESS6_1]" --device "$(device_of 1)/1"
lists "over the device of a link-local address" "[$link_local_1]" --device "$(device_of 1)"
refuses "$(device_of 1): it has no link-local IPv6 address.*there are: .*$RDMABLK_TEST_ADDRESS6_1" \
  "[$link_local]" --device "$(device_of 1)"
refuses "no RDMA device 'nosuch0'; those there are: .*$(device_of 0)" "[$link_local]" --device nosuch0
refuses "no network interface 'nosuch0'" "[${link_local%\%*}%nosuch0]"
refuses "as in \[${link_local%\%*}%eth0\]" "[${link_local%\%*}]"
expect_fail 2 "--path-mtu goes with --cm tcp" "$rdmablk" list "[$link_local]" --path-mtu 1024

# A GID is an address, where devices have such.
if [[ $device == rxe* ]]; then
  index=$("$rdmablk" devices --json | jq --raw-output --arg gid "$RDMABLK_TEST_ADDRESS6_1" --arg name "$(device_of 1)" \
    '.devices[] | select(.name == $name) | .ports[0].gids[] | select(.gid == $gid) | .index')
  lists "from a GID" "[$RDMABLK_VM_PEER_ADDRESS6_1]" --device "$(device_of 1)" --gid-index "$index"
  refuses "GID 200 of $(device_of 1): it has no IPv6 address" \
    "[$RDMABLK_VM_PEER_ADDRESS6_1]" --device "$(device_of 1)" --gid-index 200
fi

# Mounts, by hand and as mount(8) does them, and their metrics.
uri=rdmablk://[$link_local]:$port/disk
directory=$scratch/mounted
mkdir "$directory"
"$rdmablk" mount "$uri" "$directory" --quiet -o "device=$(device_of 0)"
expect_match "the mount" "\[$link_local\]" "$("$rdmablk" mounts)"
head --bytes 1M /dev/urandom >"$scratch/data"
dd if="$scratch/data" of="$directory/disk" bs=64k conv=notrunc,fsync status=none
"$rdmablk" unmount "$directory"
"$rdmablk" copy "rdmablk://[$encoded]:$port/disk" "$scratch/copy" --quiet
cmp --bytes 1M "$scratch/data" "$scratch/copy" || fail "the copy differs from what was written"

# As a block device, whose name has no '%'.
if [[ -c /dev/loop-control ]]; then
  mapped=$("$rdmablk" map "$uri" -o "device=$(device_of 0)")
  cmp --bytes 1M "$scratch/data" "$mapped" || fail "the block device differs from what was written"
  expect_equal "the name of the device" "$mapped" "$(realpath "/dev/rdmablk/${link_local/\%/+25}@$port/disk")"
  "$rdmablk" unmap "rdmablk://[$encoded]:$port/disk"
  [[ ! -e /dev/rdmablk/${link_local/\%/+25}@$port ]] || fail "the name of the device is still there"
fi

# As mount(8) has it.
if [[ -x $(type -P mount) ]]; then
  ln --symbolic --force "$RDMABLK_BIN/rdmablk-fuse" /sbin/mount.rdmablk
  printf '%s %s rdmablk noauto,device=%s 0 0\n' "$uri" "$directory" "$(device_of 0)" >>/etc/fstab
  mount "$directory"
  cmp --bytes 1M "$scratch/data" "$directory/disk" || fail "the mount of fstab differs from what was written"
  umount "$directory"
fi

# The first of a host's addresses is dead.
dead=${RDMABLK_TEST_ADDRESS%.*}.3
printf '%s two-faced\n%s two-faced\n' "$dead" "$RDMABLK_VM_PEER_ADDRESS" >>/etc/hosts
expect_equal "the order of the addresses" "$dead" "$(getent ahostsv4 two-faced | awk 'NR == 1 { print $1 }')"
stop_target
serve 0.0.0.0
lists "by the second address" two-faced
stop_target

# A target that listens on one link alone.
serve "[$link_local]"
lists "of one link" "[$link_local]"
refuses "cannot connect" "[$link_local_1]" --timeout 2
stop_target

# By TCP, which iWARP has no place for.
if [[ $device == rxe* ]]; then
  address='[::]'
  start_target --export "$(export_spec disk 8M)" --cm tcp
  port=${target##*:}
  lists "by IPv6 and TCP" "[$RDMABLK_VM_PEER_ADDRESS6]" --cm tcp
  lists "by a link-local address and TCP" "[$encoded]" --cm tcp
  lists "by TCP over one network, by RDMA over the other" "[$link_local]" --cm tcp --device "$(device_of 1)"
  lists "by TCP with smaller packets" "[$link_local_1]" --cm tcp --path-mtu 512 --traffic-class 8
  stop_target
else
  expect_fail 1 "iWARP.*--cm rdmacm" "$rdmablk" list "[$link_local]" --cm tcp
fi
