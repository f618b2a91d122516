#!/bin/bash
# What the disk below an export cannot do reaches the application as what it is; the session stays up, and
# the rest of the disk works. A flush that failed is never made good by a later one.
# Usage: remote_faults.sh CASE. Every function named test_* is a case.
#
# Environment:
#   RDMABLK_TEST_BACKING   how the file is exported: direct (when not given), buffered or resident
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/faults_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/faults_lib.sh"
start_remote

image=$scratch/image
touch "$image" "$scratch/second"

export_disk() {
  make_disk 32M
  power_on --alignment 512
  start_target --export "$(export_of disk "$disk,shared")"
  mount_export disk "$image"
}

end() {
  unmount_export "$image"
  stop_target
  power_cut
}

# read_blocks FILE OFFSET, write_blocks FILE OFFSET: 64 KiB, with O_DIRECT.
read_blocks() { dd if="$1" of=/dev/null bs=64K iflag=direct,skip_bytes skip="$2" count=1 status=none; }
write_blocks() {
  dd if=/dev/zero of="$1" bs=64K oflag=direct,seek_bytes seek="$2" count=1 conv=notrunc status=none
}

# The rest of the image works, and the target answers.
rest_works() {
  verify_with_fio "$image" 8M --offset=16M --ioengine=libaio --rw=randwrite --bsrange=512-64k \
    --blockalign=512 --iodepth=16
  write_at "$image" 3000000 neighbour
  expect_equal "a neighbour" neighbour "$(read_at "$image" 3000000 9)"
  expect_match "the export" disk "$("$rdmablk" list "$target")"
}

test_bad_ranges() {
  local error text name
  export_disk
  order "fail read EIO 1M 64K"
  expect_error "Input/output error" read_blocks "$image" 1M
  expect_error "Input/output error" dd if="$image" of=/dev/null bs=1 skip=1050001 count=1
  expect_error "Input/output error" dd if="$image" of=/dev/null bs=1M skip=1 count=1 iflag=direct
  read_blocks "$image" 1114112
  rest_works
  for name in EIO:"Input/output error" ENOSPC:"No space left on device"; do
    error=${name%%:*} text=${name#*:}
    order clear
    order "fail write $error 2M 64K"
    expect_error "$text" write_blocks "$image" 2M
    expect_error "$text" dd if=/dev/zero of="$image" bs=1000 seek=2000 oflag=seek_bytes seek=2100001 count=1 conv=notrunc
    expect_error "$text" fio --name=across --filename="$image" --rw=write --bs=1M --offset=1536K --size=1M \
      --direct=1 --ioengine=libaio --output-format=terse --runtime=60
    write_blocks "$image" 2162688
    rest_works
  done
  order clear
  read_blocks "$image" 1M
  write_blocks "$image" 2M
  sync "$image"
  end
}

# The rest of a write that the disk did only in part follows.
test_short() {
  export_disk
  head --bytes=1M /dev/urandom >"$scratch/data"
  order "short write 8K 5"
  dd if="$scratch/data" of="$image" bs=256K conv=notrunc oflag=direct status=none
  expect_equal "what is read" "$(sha256 "$scratch/data")" "$(sha256 "$image" 0 1M)"
  sync "$image"
  expect_equal "what is on the disk" "$(sha256 "$scratch/data")" "$(sha256 "$medium" 0 1M)"
  end
}

# Whose writes the failed flush covered hears of it, again and again, until it mounts anew.
test_failed_fsync() {
  export_disk
  mount_export disk "$scratch/second"
  write_at "$image" 0 first fsync
  write_at "$image" 4096 second
  write_at "$scratch/second" 1000000 other
  order "fail fsync EIO"
  expect_error "Input/output error" sync "$image"
  for _ in 1 2 3; do
    expect_error "Input/output error" sync "$image"
    write_at "$image" 8192 third || true # it may be refused
    expect_error "Input/output error" sync --data "$image"
    expect_error "Input/output error" dd if=/dev/zero of="$image" bs=4K seek=5 count=1 conv=notrunc oflag=dsync
  done
  for _ in 1 2; do
    # A resident export learns what the other one wrote with that one's own flush.
    is_resident || expect_error "Input/output error" sync "$scratch/second"
  done
  expect_equal "what was flushed before" first "$(read_at "$image" 0 5)"
  unmount_export "$scratch/second"
  unmount_export "$image"

  mount_export disk "$image"
  write_at "$image" 4096 anew fsync
  sync "$image"
  expect_equal "on the disk" anew "$(read_at "$medium" 4096 4)"
  end
}

# A mount whose writes had been flushed before goes on.
test_innocent() {
  export_disk
  mount_export disk "$scratch/second"
  write_at "$scratch/second" 1000000 early fsync
  write_at "$image" 4096 lost
  order "fail fsync EIO"
  expect_error "Input/output error" sync "$image"
  write_at "$scratch/second" 2000000 later fsync
  expect_equal "on the disk" early,later "$(read_at "$medium" 1000000 5),$(read_at "$medium" 2000000 5)"
  expect_error "Input/output error" sync "$image"
  unmount_export "$scratch/second"
  end
}

# A resident export: what a mount wrote and did not flush is written back when the target ends, whether the
# mount is still there, has gone, or was killed; the disk has it for good then.
test_left_behind() {
  local ending daemon
  for ending in mounted unmounted killed; do
    export_disk
    write_at "$image" 1000001 "$ending"
    daemon=$(daemon_of "$image")
    case $ending in
      unmounted) unmount_export "$image" ;;
      killed) kill -KILL "$daemon" ;;
    esac
    stop_target
    power_cut
    expect_equal "on the disk" "$ending" "$(read_at "$medium" 1000001 ${#ending})"
    [[ $ending == unmounted ]] || umount --lazy "$image"
    wait_for_exit "$daemon" 30 || kill -KILL "$daemon"
  done
}

# A sparse export larger than the file system that it lies on.
test_full_file_system() {
  local full=$scratch/full
  mkdir "$full"
  mount -t tmpfs -o size=8M tmpfs "$full"
  head --bytes=2M /dev/zero >"$full/filler"
  start_target --export "$(export_of disk "$full/image,size=32M,sparse")"
  mount_export disk "$image"
  head --bytes=4M /dev/urandom >"$scratch/data"
  dd if="$scratch/data" of="$image" bs=1M conv=notrunc,fsync oflag=direct status=none
  expect_error "No space left on device" dd if=/dev/zero of="$image" bs=1M seek=8 conv=notrunc oflag=direct
  expect_equal "what was there before" "$(sha256 "$scratch/data")" "$(sha256 "$image" 0 4M)"
  dd if="$scratch/data" of="$image" bs=1M count=2 conv=notrunc oflag=direct status=none
  expect_match "the export" disk "$("$rdmablk" list "$target")"
  dd if=/dev/zero of="$image" bs=4K seek=7168 conv=notrunc oflag=direct status=none count=1 2>/dev/null || true
  rm "$full/filler"
  dd if="$scratch/data" of="$image" bs=1M seek=28 count=1 conv=notrunc oflag=direct status=none
  expect_equal "what fits now" "$(sha256 "$scratch/data" 0 1M)" "$(sha256 "$image" 28M 1M)"
  unmount_export "$image"
  stop_target
}

# A resident one takes writes in memory, and says that there is no room when it is to flush them.
test_full_resident() {
  local full=$scratch/full
  mkdir "$full"
  mount -t tmpfs -o size=8M tmpfs "$full"
  start_target --export "$(export_of disk "$full/image,size=32M,sparse")"
  mount_export disk "$image"
  head --bytes=4M /dev/urandom >"$scratch/data"
  dd if="$scratch/data" of="$image" bs=1M conv=notrunc,fsync oflag=direct status=none
  dd if="$scratch/data" of="$image" bs=1M seek=8 conv=notrunc oflag=direct status=none
  dd if="$scratch/data" of="$image" bs=1M seek=16 conv=notrunc oflag=direct status=none
  expect_error "No space left on device" sync "$image"
  expect_error "No space left on device|Input/output error" sync "$image"
  expect_equal "what was there before" "$(sha256 "$scratch/data")" "$(sha256 "$full/image" 0 4M)"
  expect_match "the export" disk "$("$rdmablk" list "$target")"
  unmount_export "$image"
  kill_target
}

"test_$1"
