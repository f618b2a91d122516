#!/bin/bash
# A mount of an export that is kept in a file: what was written and synced is in the file, holes are
# punched and found, and what was not synced is there after unmounting.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote

size=$((32 << 20))
head --bytes=$size /dev/urandom >"$scratch/data"
touch "$scratch/image"
image=$scratch/image

# find_next OFFSET data|hole: where lseek(2) finds it; "none" when there is none.
find_next() {
  local -A whence=([data]=3 [hole]=4)
  perl -e 'open(my $file, "<", $ARGV[0]) or die;
           my $found = sysseek($file, $ARGV[1], $ARGV[2]);
           print defined($found) ? int($found) : "none"' "$image" "$1" "${whence[$2]}"
}

get() { dd if="$image" bs=64k iflag=skip_bytes,count_bytes skip="$1" count="$2" status=none; }

# put OFFSET: into the model.
put() { dd of="$scratch/model" bs=64k oflag=seek_bytes iflag=fullblock seek="$1" conv=notrunc status=none; }

zeroes() { head --bytes="$1" /dev/zero; }

# backing: what the target's file has.
backing() { sha256 "$scratch/disk.img"; }

check_file() {
  rm --force "$scratch/disk.img"
  start_target --export "disk=file:$scratch/disk.img,size=$size,sparse,$1"
  mount_export disk "$image"
  expect_equal "size" $size "$(stat --format %s "$image")"
  expect_equal "data in an empty image" none "$(find_next 0 data)"
  expect_equal "a hole in an empty image" 4096 "$(find_next 4096 hole)"
  expect_error "not supported" fallocate --offset 0 --length 4096 "$image"
  expect_error "unsupported" fallocate --keep-size --offset 0 --length 4096 "$image"

  dd if="$scratch/data" of="$image" bs=1M conv=notrunc,fsync status=none
  expect_equal "what the file has" "$(sha256 "$scratch/data")" "$(backing)"
  cmp "$image" "$scratch/data" || fail "the mount reads something else than was written"
  expect_equal "data in a full image" 4096 "$(find_next 4096 data)"
  expect_equal "the end counts as a hole" $size "$(find_next 0 hole)"

  # Odd places, durable by themselves.
  cp "$scratch/data" "$scratch/model"
  for flags in dsync sync direct,sync; do
    head --bytes=512 /dev/urandom >"$scratch/piece"
    for file in "$image" "$scratch/model"; do
      dd if="$scratch/piece" of="$file" bs=512 seek=12345 conv=notrunc oflag=$flags status=none
    done
    expect_equal "the file after $flags" "$(sha256 "$scratch/model")" "$(backing)"
  done

  fallocate --punch-hole --offset 5000 --length $((20 << 20)) "$image"
  fallocate --zero-range --offset 30000001 --length 70001 "$image"
  sync "$image"
  zeroes $((20 << 20)) | put 5000
  zeroes 70001 | put 30000001
  expect_equal "the file with a hole" "$(sha256 "$scratch/model")" "$(backing)"
  get 5000 $((20 << 20)) | cmp - <(zeroes $((20 << 20))) || fail "a hole is not zero"
  # Its edges share blocks with data.
  (($(find_next 0 hole) >= 5000 && $(find_next 0 hole) < 5000 + 65536)) || fail "no hole where one was punched"
  (($(find_next 1000000 data) > (19 << 20))) || fail "data in a hole"
  cp --sparse=always "$image" "$scratch/copy"
  cmp "$scratch/copy" "$scratch/model" || fail "a sparse copy differs"
  (($(stat --format %b "$scratch/disk.img") * 512 <= size - (19 << 20))) || fail "the hole gave no space back"

  # Never synced, but unmounted.
  dd if="$scratch/data" of="$image" bs=1M conv=notrunc status=none
  unmount_export "$image"
  stop_target
  expect_equal "the file after all" "$(sha256 "$scratch/data")" "$(backing)"
}

for way in direct=auto direct=off; do check_file $way; done
