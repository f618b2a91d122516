#!/bin/bash
# fio writes and verifies through the mount: random writes of mixed sizes, unaligned, from two jobs.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
start_target --export "$(export_spec disk 64M)"

image=$scratch/image
touch "$image"

mount_export disk "$image"
verify_with_fio "$image" 32M --ioengine=libaio --iodepth=32 --rw=randwrite --bsrange=512-1M \
  --bs_unaligned --numjobs=2 --offset_increment=32M --io_size=64M
verify_with_fio "$image" 32M --ioengine=io_uring --iodepth=32 --rw=randrw --bs=4k --numjobs=2 \
  --offset_increment=32M --io_size=8M
unmount_export "$image"

# More requests than the queue holds, which must wait for room.
mount_export disk "$image" -o workers=1,queue_depth=2
verify_with_fio "$image" 64M --ioengine=libaio --iodepth=32 --rw=randwrite --bsrange=512-256k --io_size=32M
unmount_export "$image"
stop_target
expect_match "the target's counters" "io_queue_receives=0" "$(tail -n 1 "$target_log")"
