#!/bin/bash
# A request to a file export costs the mount what one to memory does, and no more: its commands, their answers and the
# READs and WRITEs of its data take no allocation, no lock and no system call of ours.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/remote_lib.sh"
# shellcheck source=tests/hot_path/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start_remote
start_target --export "disk=file:$scratch/disk.img,size=16M"

start_counting
image=$scratch/image
touch "$image"
mount_image "$(uri disk)" "$image" -o workers=1,queue_depth=32,spin=1000000
check_costs "$image"
unmount_image "$image"
stop_target
