#!/bin/bash
# A little of everything, for where everything is slow: fio writes and verifies, and a file system on a loop
# device on the mount outlives the mount.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
start_target --export "$(export_spec disk 16M)"

image=$scratch/image
touch "$image"
mkdir "$scratch/fs"
mount_export disk "$image"
verify_with_fio "$image" 8M --ioengine=libaio --iodepth=16 --rw=randwrite --bsrange=512-64k --bs_unaligned
mkfs.ext4 -q "$image"
mount -o loop "$image" "$scratch/fs"
head --bytes=2M /dev/urandom >"$scratch/fs/file"
sum=$(sha256 "$scratch/fs/file")
umount "$scratch/fs"
unmount_export "$image"

mount_export disk "$image"
mount -o loop,ro "$image" "$scratch/fs"
expect_equal "the file after mounting again" "$sum" "$(sha256 "$scratch/fs/file")"
umount "$scratch/fs"
unmount_export "$image"
stop_target
