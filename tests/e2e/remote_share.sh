#!/bin/bash
# What one initiator wrote another reads, through a mount of its own, while the first goes on.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
start_target --export "$(export_spec disk 32M)" --export "$(export_spec other 32M)"

touch "$scratch/first" "$scratch/second"
mkdir "$scratch/third"
head --bytes=32M /dev/urandom >"$scratch/data"
sum=$(sha256 "$scratch/data")

mount_export disk "$scratch/first"
mount_export disk "$scratch/second" -o ro
mount_export other "$scratch/third"
dd if="$scratch/data" of="$scratch/first" bs=1M conv=notrunc oflag=direct status=none
expect_equal "what the second initiator reads" "$sum" "$(sha256 "$scratch/second")"
expect_equal "what the first initiator reads" "$sum" "$(sha256 "$scratch/first")"
expect_equal "another export" "$(head --bytes=32M /dev/zero | sha256sum | cut -d ' ' -f 1)" \
  "$(sha256 "$scratch/third/other")"

# A byte in the middle, with no cache in between.
printf X | dd of="$scratch/first" bs=1 seek=12345678 conv=notrunc status=none
expect_equal "one byte" X "$(dd if="$scratch/second" bs=1 skip=12345678 count=1 status=none)"
expect_error "Read-only file system|Permission denied" dd if=/dev/zero of="$scratch/second" bs=512 count=1 conv=notrunc

# The content stays when the writer goes.
unmount_export "$scratch/first"
mount_export disk "$scratch/first"
expect_equal "one byte after mounting again" X "$(dd if="$scratch/first" bs=1 skip=12345678 count=1 status=none)"
for path in first second third; do unmount_export "$scratch/$path"; done
stop_target

# A file has it all.
if [[ $backing != memory ]]; then
  printf X | dd of="$scratch/data" bs=1 seek=12345678 conv=notrunc status=none
  cmp "$scratch/data" "$(backing_file disk)" || fail "the file is not what was written"
fi
