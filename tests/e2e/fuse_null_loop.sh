#!/bin/bash
# A file system on a loop device on the mount survives, whole.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start
[[ -c /dev/loop-control ]] || skip "there are no loop devices"

image=$scratch/image
touch "$image"
mkdir "$scratch/fs"
mount_image --null 64M "$image"

for round in 1 2; do
  device=$(losetup --direct-io=on --find --show "$image")
  expect_equal "direct I/O of the loop device" 1 "$(losetup --noheadings --output DIO "$device" | xargs)"
  ((round > 1)) || mkfs.ext4 -q "$device"
  mount "$device" "$scratch/fs"
  if ((round == 1)); then
    for i in {1..50}; do head --bytes=$((i * 7919)) /dev/urandom >"$scratch/fs/$i"; done
    (cd "$scratch/fs" && sha256sum ./[0-9]*) >"$scratch/sums"
    rm "$scratch/fs/7" && sed -i '/\.\/7$/d' "$scratch/sums"
    fstrim "$scratch/fs"
  fi
  (cd "$scratch/fs" && sha256sum --check --quiet "$scratch/sums") || fail "files differ in round $round"
  umount "$scratch/fs"
  fsck.ext4 -fn "$device" >"$scratch/fsck" 2>&1 || fail "$(cat "$scratch/fsck")"
  losetup --detach "$device"
done
unmount_image "$image"
