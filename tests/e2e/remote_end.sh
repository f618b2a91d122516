#!/bin/bash
# The end of an image: writes up to it, across it and past it; sizes that are no multiple of a page.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
start_target --export "$(export_spec even 1M)" --export "$(export_spec odd 1049088)" --export "$(export_spec tiny 512)"

image=$scratch/image
touch "$image"
for export in even odd tiny; do
  mount_export "$export" "$image"
  size=$("$rdmablk" info --size "$(uri "$export")")
  expect_equal "size of $export" "$size" "$(stat --format %s "$image")"

  # Up to the end.
  head --bytes=512 /dev/urandom >"$scratch/block"
  dd if="$scratch/block" of="$image" bs=512 seek=$((size / 512 - 1)) conv=notrunc status=none
  expect_equal "the last block of $export" "$(sha256 "$scratch/block")" "$(sha256 "$image" $((size - 512)))"

  # Across it: what fits is written.
  head --bytes=1024 /dev/urandom >"$scratch/two"
  expect_error "No space left" dd if="$scratch/two" of="$image" bs=1024 oflag=seek_bytes seek=$((size - 512)) conv=notrunc
  expect_equal "the last block of $export, written across the end" "$(sha256 "$scratch/two" 0 512)" \
    "$(sha256 "$image" $((size - 512)))"

  # Past it: nothing.
  for past in "$size" $((size + 1)) $((size + 1048576)); do
    expect_error "No space left" dd if="$scratch/block" of="$image" bs=512 count=1 oflag=seek_bytes seek="$past" conv=notrunc
    expect_equal "bytes read at $past" 0 "$(dd if="$image" bs=512 iflag=skip_bytes skip="$past" count=1 status=none | wc -c)"
  done
  expect_equal "size of $export afterwards" "$size" "$(stat --format %s "$image")"
  expect_equal "bytes of $export" "$size" "$(wc -c <"$image")"
  expect_error "truncate" truncate --size=4096 "$image"
  unmount_export "$image"
done
stop_target
