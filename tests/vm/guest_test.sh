#!/bin/bash
# Tests of what a guest of scripts/vm offers; runs inside it. Usage: guest_test.sh CASE
#
# Every function named test_* is a case.
set -euo pipefail

# shellcheck source=tests/vm/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# rdma_listener_exists PROGRAM
rdma_listener_exists() { [[ $(rdma resource show cm_id) =~ LISTEN[^$'\n']*\ comm\ $1 ]]; }

# tcp_listener_exists PORT
tcp_listener_exists() {
  local port
  printf -v port %04X "$1"
  [[ $(cat /proc/net/tcp /proc/net/tcp6) =~ :$port\ [0-9A-F:]+\ 0A ]]
}

test_device() {
  local info transport=InfiniBand
  [[ $RDMABLK_TEST_DEVICE == rxe0 ]] || transport=iWARP
  info=$(ibv_devinfo --ib-dev="$RDMABLK_TEST_DEVICE")
  expect_equal "inside" 1 "$RDMABLK_IN_VM"
  expect_match "devices" "$RDMABLK_TEST_DEVICE" "$(ibv_devices)"
  expect_match "transport" "transport:.*$transport" "$info"
  expect_match "port" PORT_ACTIVE "$info"
  expect_match "address" "inet $RDMABLK_TEST_ADDRESS" "$(ip address)"
}

test_environment() {
  expect_equal "locked memory" unlimited "$(ulimit -l)"
  [[ -r /dev/fuse && -w /dev/fuse && -w /dev/shm && -c /dev/ptmx ]] || fail "device nodes"
  [[ -e /etc/mtab && -d /sys/fs/cgroup/ && -w /run ]] || fail "file systems"
  expect_match "frequency" "cpu MHz" "$(</proc/cpuinfo)"
  echo "# written by the guest" >>/etc/hosts
  expect_match "write to the root" "written by the guest" "$(</etc/hosts)"
}

test_loop_device() {
  local image=/tmp/image mount_point=/run/loop device
  truncate --size 64M "$image"
  device=$(losetup --find --show "$image")
  mkfs.ext4 -q "$device"
  mkdir "$mount_point"
  mount "$device" "$mount_point"
  echo content >"$mount_point/file"
  umount "$mount_point"
  mount "$device" "$mount_point"
  expect_equal "file" content "$(<"$mount_point/file")"
  umount "$mount_point"
  losetup --detach "$device"
}

# READ and WRITE, the data compared at both ends.
test_rping() {
  local -a command=(rping -a "$RDMABLK_TEST_ADDRESS" -C 50 -S 60000 -V)
  "${command[@]}" -s &
  wait_until "rping's listener" rdma_listener_exists rping
  "${command[@]}" -c
  wait "$!"
}

# With events: two that poll would wait for one another's time slices on a single processor.
test_pingpong() {
  local -a command=(ibv_rc_pingpong --ib-dev="$RDMABLK_TEST_DEVICE" --gid-idx=1 --events --iters=100)
  "${command[@]}" &
  wait_until "ibv_rc_pingpong's listener" tcp_listener_exists 18515
  "${command[@]}" 127.0.0.1
  wait "$!"
}

"test_$1"
