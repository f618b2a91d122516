#!/bin/bash
# rdmablk-forgetful-fs forgets what was not flushed, keeps what was, and fails as ordered.
# Usage: forgetful_fs_test.sh CASE. Every function named test_* is a case.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/e2e/faults_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/faults_lib.sh"
start

# expect_at WHERE OFFSET TEXT: WHERE is a path.
expect_at() { expect_equal "${1##*/} at $2" "$3" "$(read_at "$1" "$2" "${#3}")"; }

test_power_cut() {
  make_disk 16M && power_on
  write_at "$disk" 1000 durable fsync
  write_at "$disk" 70000 durable fdatasync
  write_at "$disk" 1002 FORGOTTEN
  write_at "$disk" 5000000 forgotten
  expect_at "$disk" 998 "..duFORGOTTEN."
  expect_at "$disk" 5000000 forgotten
  expect_equal "sectors held" 2 "$(disk_counter held)"
  power_cut
  expect_at "$medium" 998 "..durable...."
  expect_at "$medium" 70000 durable
  expect_at "$medium" 5000000 .........

  power_on # closing, unmounting and ending in an orderly way persist nothing either
  write_at "$disk" 0 forgotten
  fusermount3 -u "$scratch/power"
  wait_for_exit "$disk_pid" 10 || fail "it did not end when it was unmounted"
  expect_at "$medium" 0 .........
}

# Writes that are their own flush: O_DSYNC, O_SYNC, RWF_DSYNC through io_uring with fixed buffers.
test_synchronous_writes() {
  make_disk 16M && power_on
  dd if=/dev/urandom of="$scratch/data" bs=64K count=16 status=none
  dd if="$scratch/data" of="$disk" bs=64K count=4 conv=notrunc oflag=direct,dsync status=none
  dd if="$scratch/data" of="$disk" bs=64K count=4 skip=4 seek=4 conv=notrunc oflag=sync status=none
  expect_equal "flushes" 8 "$(disk_counter flushes)"
  expect_equal "sectors held" 0 "$(disk_counter held)"
  power_cut
  expect_equal "the disk" "$(sha256 "$scratch/data" 0 512K)" "$(sha256 "$medium" 0 512K)"
}

test_io_uring() {
  make_disk 64M && power_on --alignment 512
  for engine in "io_uring --fixedbufs=1 --registerfiles=1" libaio; do
    # shellcheck disable=SC2086 # words of an option
    verify_with_fio "$disk" 32M --ioengine=$engine --rw=randwrite --bsrange=512-128k --blockalign=512 \
      --iodepth=32 --end_fsync=1
  done
  expect_equal "sectors held" 0 "$(disk_counter held)"
  expect_error "Invalid argument" dd if=/dev/zero of="$disk" bs=100 count=1 oflag=direct conv=notrunc
  power_cut
}

test_fallocate() {
  make_disk 1M && power_on
  write_at "$disk" 0 "$(printf '%03000d' 1)" fsync
  order "fail fsync EIO" # fallocate(1) ends with fsync
  expect_error "Input/output error" fallocate --punch-hole --offset 100 --length 2000 "$disk"
  expect_at "$disk" 98 00..
  expect_at "$disk" 2098 ..00
  expect_at "$medium" 98 0000
  fallocate --punch-hole --offset 100 --length 2000 "$disk"
  expect_at "$medium" 98 00..
  fallocate --zero-range --keep-size --offset 512K --length 128K "$disk"
  expect_at "$medium" 1024 ....
  expect_error "No space left" fallocate --punch-hole --offset 1M --length 512 "$disk"
  expect_error "not permitted" truncate --size 2M "$disk"
  power_cut
  power_on --no-fallocate
  expect_error "unsupported|not supported" fallocate --punch-hole --offset 0 --length 512 "$disk"
  power_cut
}

test_bad_ranges() {
  make_disk 1M && power_on
  write_at "$disk" 0 "$(printf '%05000d' 1)"
  order "fail read EIO 4K 512"
  order "fail write ENOSPC 64K 4K"
  expect_error "Input/output error" dd if="$disk" of=/dev/null bs=512 skip=8 count=1
  expect_error "Input/output error" dd if="$disk" of=/dev/null bs=64K count=1
  expect_at "$disk" 4000 "$(printf %096d 0)"
  expect_at "$disk" 4608 0000
  expect_error "No space left" dd if=/dev/zero of="$disk" bs=512 seek=135 count=1 conv=notrunc
  write_at "$disk" 69632 behind
  order clear
  expect_at "$disk" 4096 0000
  write_at "$disk" 65536 inside
  expect_error "Invalid argument" dd if=<(echo fail everything) of="$scratch/power/control" status=none
  power_cut
}

# A flush that failed has lost what was held, although it can still be read and the next one succeeds.
test_failed_fsync() {
  make_disk 1M && power_on
  write_at "$disk" 0 before fsync
  write_at "$disk" 0 during
  write_at "$disk" 4096 during
  order "fail fsync EIO 2"
  expect_error "Input/output error" sync "$disk"
  expect_error "Input/output error" dd if=/dev/zero of="$disk" bs=512 seek=100 count=1 conv=notrunc oflag=dsync
  write_at "$disk" 4098 after fsync
  expect_at "$disk" 0 during
  expect_equal "sectors lost" 2 "$(disk_counter lost)"
  power_cut
  expect_at "$medium" 0 before
  expect_at "$medium" 4096 duafter
}

test_short_and_slow() {
  local begun=$EPOCHREALTIME
  make_disk 1M && power_on
  write_at "$disk" 0 "$(printf %04096d 1)"
  order "short write 100 2"
  dd if=/dev/zero of="$disk" bs=4096 count=1 conv=notrunc status=none
  expect_equal "writes, with one in three pieces" 4 "$(disk_counter writes)"
  order "short write 4K 5"
  dd if=/dev/urandom of="$scratch/data" bs=64K count=16 status=none
  dd if="$scratch/data" of="$disk" bs=64K conv=notrunc status=none
  expect_equal "what was written in pieces" "$(sha256 "$scratch/data")" "$(sha256 "$disk")"
  order "delay fsync 300"
  sync "$disk"
  ((${EPOCHREALTIME/[.,]/} - ${begun/[.,]/} >= 300000)) || fail "the flush was not delayed"
  power_cut
}

# A cache that writes when it likes: some of the sectors, the same ones for the same seed.
test_reorder() {
  local sum=''
  for _ in 1 2; do
    make_disk 4M && power_on --reorder 7
    head --bytes=1M /dev/zero | tr '\0' x >"$scratch/data"
    dd if="$scratch/data" of="$disk" bs=4K conv=notrunc status=none
    expect_equal "flushes" 0 "$(disk_counter flushes)"
    power_cut
    if cmp --quiet --bytes=1M "$medium" /dev/zero; then fail "nothing was persisted"; fi
    if cmp --quiet --bytes=1M "$medium" "$scratch/data"; then fail "all was persisted"; fi
    expect_equal "the disk after the power cut" "${sum:-$(sha256 "$medium")}" "$(sha256 "$medium")"
    sum=$(sha256 "$medium")
  done
}

test_locks() {
  make_disk 1M && power_on
  exec {lock}<"$disk"
  flock --nonblock "$lock" || fail "a free file cannot be locked"
  if flock --nonblock "$disk" true; then fail "a locked file can be locked"; fi
  exec {lock}<&-
  flock --nonblock "$disk" true || fail "closing did not unlock"
  power_cut
}

test_usage() {
  truncate --size 1000 "$scratch/odd"
  expect_fail 1 "multiple of 512" "$tools_bin/rdmablk-forgetful-fs" "$scratch" "$scratch/odd"
  expect_fail 1 "missing" "$tools_bin/rdmablk-forgetful-fs" "$scratch" "$scratch/missing"
  expect_fail 2 "BACKING_FILE" "$tools_bin/rdmablk-forgetful-fs" "$scratch"
}

"test_$1"
