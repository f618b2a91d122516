#!/bin/bash
# An image over a file: how it looks, reads and writes, its edges.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start

readonly size=$((8 * 1024 * 1024))
image=$scratch/image
touch "$image"
mount_image --null 8M "$image" -o spin=0

put() { dd of="$image" bs=1M conv=notrunc oflag=seek_bytes seek="$1" status=none; }
get() { dd if="$image" bs=1M iflag=skip_bytes,count_bytes skip="$1" count="$2" status=none; }
zeroes() { head --bytes="$1" /dev/zero; }

# How it looks.
expect_equal "type, size, mode, owner" "regular file $size 600 0:0" \
  "$(stat --format '%F %s %a %u:%g' "$image")"
expect_equal "blocks" "$((size / 512))" "$(stat --format %b "$image")"
expect_equal "file system's size" "$size" "$(($(stat --file-system --format '%b * %S' "$image")))"
expect_equal "type and source" "fuse.rdmablk null" \
  "$(findmnt --noheadings --output FSTYPE,SOURCE "$image" | xargs)"
expect_equal "content at first" "$(zeroes $size | sha256sum)" "$(sha256sum <"$image")"

# What is written is read, at any offset and length.
head --bytes=3000001 /dev/urandom >"$scratch/data"
put 1234567 <"$scratch/data"
get 1234567 3000001 | cmp - "$scratch/data" || fail "other data came back"
expect_equal "bytes before" "$(zeroes 1234567 | sha256sum)" "$(get 0 1234567 | sha256sum)"
dd if="$image" of=/dev/null bs=1M iflag=direct status=none

# The end.
tail --bytes=1000 "$scratch/data" | put $((size - 1000))
get $((size - 1000)) 5000 | cmp - <(tail --bytes=1000 "$scratch/data") || fail "other data at the end"
expect_equal "bytes behind the end" 0 "$(get $size 10 | wc --bytes)"
expect_equal "bytes far behind the end" 0 "$(get $((size * 1000)) 10 | wc --bytes)"
expect_error "No space left" put $size <<<"x"
expect_error "No space left" put $((size + 4096)) <<<"x"
expect_error "No space left" put $((size - 2)) <<<"abcd"
expect_equal "what fits is written" "ab" "$(get $((size - 2)) 2)"
expect_error "No space left" bash -c "echo x >>'$image'"

# Its size stays.
before=$(sha256 "$image")
expect_error "Operation not permitted" truncate --size 4096 "$image"
expect_error "Operation not permitted" truncate --size 0 "$image"
expect_error "Operation not permitted" truncate --size $((size * 2)) "$image"
truncate --size $size "$image"
: >"$image"
expect_equal "size after O_TRUNC" $size "$(stat --format %s "$image")"
expect_equal "content after O_TRUNC" "$before" "$(sha256 "$image")"
# The kernel itself must not believe that the file is empty: asynchronous reads would end at once.
run_in_background fio --name=read --filename="$image" --rw=randread --bs=64k --size=8M --direct=1 \
  --ioengine=libaio --iodepth=8 --time_based --runtime=1 --output="$scratch/fio" --output-format=json
while is_running "${test_pids[0]}"; do : >"$image"; done
expect_equal "bytes read with O_TRUNC around" true \
  "$(jq '.jobs[0].read | .total_ios > 0 and .io_bytes == .total_ios * 65536' "$scratch/fio")"

# Attributes stay, too.
touch "$image"
touch --date=2001-01-01 "$image"
chmod 600 "$image"
expect_error "Operation not permitted" chmod 644 "$image"
expect_error "Operation not permitted" chown 1 "$image"

# Flushing, allocating, holes.
dd if="$scratch/data" of="$image" bs=64k conv=notrunc,fsync status=none
sync "$image"
fallocate --offset 0 --length $size "$image"
expect_error "No space left" fallocate --offset 0 --length $((size + 1)) "$image"
fallocate --punch-hole --offset 5000 --length 1500000 "$image"
get 5000 1500000 | cmp - <(zeroes 1500000) || fail "a hole is not zero"
get 0 5000 | cmp - <(head --bytes=5000 "$scratch/data") || fail "the hole begins too early"
get 1505000 1000 | cmp - <(tail --bytes=+1505001 "$scratch/data" | head --bytes=1000) ||
  fail "the hole is too long"
fallocate --zero-range --offset 2000000 --length 4096 "$image"
get 2000000 4096 | cmp - <(zeroes 4096) || fail "zero-range did not zero"
fallocate --punch-hole --offset $((size - 512)) --length 4096 "$image"
expect_error "No space left" fallocate --zero-range --offset $((size - 512)) --length 4096 "$image"
expect_error "not supported" fallocate --collapse-range --offset 0 --length 4096 "$image"
expect_equal "size after all" $size "$(stat --format %s "$image")"

# A copy of it is whole.
cp --sparse=never "$image" "$scratch/copy"
cmp "$image" "$scratch/copy" || fail "a copy differs"

unmount_image "$image"
expect_equal "size of the mount point afterwards" 0 "$(stat --format %s "$image")"
