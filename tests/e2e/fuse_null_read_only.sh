#!/bin/bash
# A read-only mount reads, and refuses everything else.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start

image=$scratch/image
touch "$image"
mount_image --null 1M "$image" -o ro,mode=0664
expect_match "mount options" "^ro," "$(findmnt --noheadings --output OPTIONS "$image")"
expect_equal "mode" "444" "$(stat --format %a "$image")"
expect_equal "bytes read" 1048576 "$(wc --bytes <"$image")"
expect_error "Read-only file system" dd if=/dev/zero of="$image" count=1 conv=notrunc
expect_error "Read-only file system" truncate --size 0 "$image"
expect_error "Read-only file system" fallocate --punch-hole --offset 0 --length 4096 "$image"
expect_error "Read-only file system" touch "$image"
unmount_image "$image"
