#!/bin/bash
# An ext4 on a loop device on the mount of an exported block device: at every flush that reached the block
# device the file system is without fault, and holds every file that was fsynced.
#
# Environment:
#   RDMABLK_TEST_BACKING   how the file is exported: direct (when not given), buffered or resident
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/faults_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/faults_lib.sh"
# shellcheck source=tests/e2e/dm_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/dm_lib.sh"
start_remote

readonly files=6
image=$scratch/image
touch "$image"
mkdir "$scratch/fs" "$scratch/files"
make_logged_device 16M 256M
start_target --export "$(export_of disk "$logged")"
mount_export disk "$image"
device=$(losetup --direct-io=on --find --show "$image")
mkfs.ext4 -q "$device"
mark 0
mount "$device" "$scratch/fs"
for ((number = 1; number <= files; ++number)); do
  head --bytes=$((number * 54321)) /dev/urandom >"$scratch/files/$number"
  dd if="$scratch/files/$number" of="$scratch/fs/$number" bs=10000 conv=fsync status=none
  mark "$number"
  rm -f "$scratch/fs/spare"
  cp "$scratch/files/$number" "$scratch/fs/spare"
done
fstrim "$scratch/fs"
(cd "$scratch/files" && seq $files | xargs sha256sum) >"$scratch/sums"
umount "$scratch/fs"
losetup --detach "$device"
unmount_export "$image"
stop_target
remove_logged_device
# shellcheck disable=SC2154 # of dm_lib.sh
replay_log --after 0 --at-least 15 --command "$check_ext4 $scratch/sums" || fail "the replay failed"
