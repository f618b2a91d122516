#!/bin/bash
# A file system on a loop device on the mounted export survives unmounting and another initiator.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
[[ -c /dev/loop-control ]] || skip "there are no loop devices"
start_target --export "$(export_spec disk 64M)"

image=$scratch/image
touch "$image"
mkdir "$scratch/fs"
for round in 1 2; do
  mount_export disk "$image"
  device=$(losetup --direct-io=on --find --show "$image")
  ((round > 1)) || mkfs.ext4 -q "$device"
  mount "$device" "$scratch/fs"
  if ((round == 1)); then
    for i in {1..60}; do head --bytes=$((i * 7919)) /dev/urandom >"$scratch/fs/$i"; done
    (cd "$scratch/fs" && sha256sum ./[0-9]*) >"$scratch/sums"
    rm "$scratch/fs/7" && sed -i '/\.\/7$/d' "$scratch/sums"
    fstrim "$scratch/fs"
    # Until it is full.
    expect_error "No space left" dd if=/dev/urandom of="$scratch/fs/filler" bs=1M
  fi
  (cd "$scratch/fs" && sha256sum --check --quiet "$scratch/sums") || fail "files differ in round $round"
  umount "$scratch/fs"
  fsck.ext4 -fn "$device" >"$scratch/fsck" 2>&1 || fail "$(cat "$scratch/fsck")"
  losetup --detach "$device"
  unmount_export "$image"
done
stop_target
