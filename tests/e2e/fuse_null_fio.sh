#!/bin/bash
# fio writes and verifies through the mount: sizes, engines, workers and queue depths of all kinds.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start

image=$scratch/image
touch "$image"

round() {
  local options=$1
  shift
  mount_image --null 64M "$image" -o "$options"
  verify_with_fio "$image" 64M "$@"
  unmount_image "$image"
}

# Mixed sizes, unaligned; fio's own alignment is the smallest size.
round workers=2,queue_depth=32 --ioengine=libaio --iodepth=32 --rw=randwrite \
  --bsrange=512-1M --bs_unaligned --io_size=128M
round workers=2,queue_depth=4 --ioengine=libaio --iodepth=64 --rw=randwrite --bsrange=512-1M \
  --io_size=64M
# More requests than there are slots, which must wait for one.
round workers=1,queue_depth=1,spin=0 --ioengine=libaio --iodepth=32 --rw=randwrite --bs=4k \
  --io_size=32M
# Two writers, each in its part.
round workers=4,queue_depth=16 --ioengine=libaio --iodepth=16 --rw=randrw --bsrange=512-128k \
  --numjobs=2 --size=32M --offset_increment=32M --io_size=64M
round workers=2,spin=0 --ioengine=psync --rw=randwrite --bs=16k --numjobs=4 --size=16M \
  --offset_increment=16M
round workers=2,spin=100 --ioengine=io_uring --iodepth=32 --rw=randwrite --bs=8k --io_size=64M

# Two jobs that write the same file through different descriptors, one with O_DIRECT and one without.
mount_image --null 64M "$image"
(cd "$scratch" && fio --output=mixed.log --filename="$image" --rw=randwrite --verify=crc32c --bs=4k \
  --name=direct --direct=1 --ioengine=libaio --iodepth=16 --size=32M \
  --name=plain --direct=0 --ioengine=psync --offset=32M --size=32M) ||
  fail "$(cat "$scratch/mixed.log")"
unmount_image "$image"
