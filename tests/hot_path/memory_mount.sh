#!/bin/bash
# A request to a memory export takes one read and one reply, no allocation, and no lock of ours: all else is the
# device's, whose costs are shown and not judged.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/remote_lib.sh"
# shellcheck source=tests/hot_path/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start_remote
start_target --export disk=memory:16M

start_counting
image=$scratch/image
touch "$image"
mount_image "$(uri disk)" "$image" -o workers=1,queue_depth=32,spin=1000000
check_costs "$image"
unmount_image "$image"
stop_target
