#!/bin/bash
# Block devices that fail, by device mapper: errors arrive as such, other ranges work, the session stays up.
#
# Environment:
#   RDMABLK_TEST_BACKING   how the device is exported: direct (when not given) or buffered
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/faults_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/faults_lib.sh"
# shellcheck source=tests/e2e/dm_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/dm_lib.sh"
start_remote

image=$scratch/image
touch "$image"
base=$(make_loop "$scratch/data" 16M)
sectors=$(blockdev --getsz "$base")

# export_device DEVICE
export_device() {
  start_target --export "$(export_of disk "$1")"
  mount_export disk "$image"
}

end() {
  unmount_export "$image"
  stop_target
  remove_dm faulty
}

# read_sectors FIRST COUNT, write_sectors FIRST COUNT
read_sectors() {
  dd if="$image" of=/dev/null bs=$((512 * $2)) iflag=direct,skip_bytes skip=$((512 * $1)) count=1 status=none
}
write_sectors() {
  dd if=/dev/zero of="$image" bs=$((512 * $2)) oflag=direct,seek_bytes seek=$((512 * $1)) count=1 conv=notrunc \
    status=none
}

# expect_bad_write FIRST COUNT: what is not written directly fails when it is flushed, for good.
expect_bad_write() {
  if [[ ${RDMABLK_TEST_BACKING:-direct} == direct ]]; then
    expect_error "Input/output error" write_sectors "$@"
    return
  fi
  expect_error "Input/output error" dd if=/dev/zero of="$image" bs=$((512 * $2)) \
    oflag=seek_bytes seek=$((512 * $1)) count=1 conv=notrunc,fsync
  expect_error "Input/output error" sync "$image"
  unmount_export "$image"
  mount_export disk "$image"
}

rest_works() {
  verify_with_fio "$image" 4M --offset=8M --ioengine=libaio --rw=randwrite --bsrange=4k-64k --iodepth=8
  expect_match "the export" disk "$("$rdmablk" list "$target")"
}

# replace_table TABLE: of a device in use. What is under way ends first.
replace_table() {
  dmsetup suspend faulty
  dmsetup load faulty --table "$1"
  dmsetup resume faulty
}

# Sectors that fail for good.
faulty=$(make_dm faulty "0 2048 linear $base 0
2048 128 error
2176 $((sectors - 2176)) linear $base 2176")
export_device "$faulty"
# Reads first: what could not be written stays in the cache, where it can be read.
for range in "2048 8" "2160 16" "2040 16"; do
  # shellcheck disable=SC2086 # two words
  expect_error "Input/output error" read_sectors $range
done
for range in "2048 8" "2160 16" "2040 16"; do
  # shellcheck disable=SC2086
  expect_bad_write $range
done
for range in "2040 8" "2176 8"; do
  # shellcheck disable=SC2086
  read_sectors $range && write_sectors $range
done
rest_works
end

# Sectors that cannot be read until they are written.
faulty=$(make_dm faulty "0 $sectors dust $base 0 4096")
dmsetup message faulty 0 addbadblock 512
dmsetup message faulty 0 enable >/dev/null
export_device "$faulty"
expect_error "Input/output error" read_sectors 4096 8
read_sectors 4104 8
rest_works
write_sectors 4096 8
read_sectors 4096 8
end

# A device that takes no writes for a while. What it was to flush meanwhile is lost for those who know.
working="0 $sectors linear $base 0"
faulty=$(make_dm faulty "$working")
export_device "$faulty"
write_sectors 64 8
replace_table "0 $sectors flakey $base 0 0 3600 1 error_writes"
read_sectors 64 8
[[ ${RDMABLK_TEST_BACKING:-direct} != direct ]] || expect_error "Input/output error" write_sectors 64 8
write_sectors 72 8 2>/dev/null || true
expect_error "Input/output error" sync "$image"
replace_table "$working"
write_sectors 64 8
rest_works
expect_error "Input/output error" sync "$image"
unmount_export "$image"
mount_export disk "$image"
write_sectors 64 8
sync "$image"
end
