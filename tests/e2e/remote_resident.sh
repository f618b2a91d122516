#!/bin/bash
# A flush of a resident export covers what others wrote as well: somebody who writes through another mount,
# somebody who died, and what could not be written back before. What the file lacks is lost with the target.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
disks=$scratch

file=$(backing_file disk)
touch "$scratch/first" "$scratch/second"

start_resident() {
  start_target --export "disk=file:$file,size=$1,sparse,resident,shared"
}

# write_all FILE: random bytes that are not synced; they are in $scratch/data, too.
write_all() {
  head --bytes="$(stat --format %s "$1")" /dev/urandom >"$scratch/data"
  dd if="$scratch/data" of="$1" bs=1M conv=notrunc oflag=direct status=none
}

# The target dies with its memory, and all mounts are taken away.
check_what_is_left() {
  kill_target
  cmp "$scratch/data" "$file" || fail "$1 is not in the file"
  for mount in "$scratch/first" "$scratch/second"; do
    ! is_mounted "$mount" || unmount_export "$mount"
  done
  rm "$file"
}

start_resident 32M
mount_export disk "$scratch/first"
mount_export disk "$scratch/second"
write_all "$scratch/first"
sync "$scratch/second"
check_what_is_left "what was written through another mount"

start_resident 256M
mount_export disk "$scratch/first"
write_all "$scratch/first"
pid=$(daemon_of "$scratch/first")
kill -KILL "$pid"
wait_for_exit "$pid" 30 || fail "SIGKILL did not end the daemon"
mount_export disk "$scratch/second"
sync "$scratch/second"
umount --lazy "$scratch/first"
check_what_is_left "what a mount that died had written"

# A file system that is full: flushes fail, also those of mounts that never wrote, until there is room.
mkdir "$scratch/small"
mount -t tmpfs -o size=12M tmpfs "$scratch/small"
file=$scratch/small/disk.img
head --bytes=6M /dev/zero >"$scratch/small/filler"
start_resident 8M
mount_export disk "$scratch/first"
write_all "$scratch/first"
expect_error "No space left" sync "$scratch/first"
unmount_export "$scratch/first"
mount_export disk "$scratch/second"
expect_error "No space left" sync "$scratch/second"
expect_match "the target's log" "No space left" "$(cat "$target_log")"
unmount_export "$scratch/second"
rm "$scratch/small/filler"
mount_export disk "$scratch/second"
sync "$scratch/second"
check_what_is_left "what there was no room for"
