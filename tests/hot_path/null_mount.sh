#!/bin/bash
# A request to a mount without RDMA takes one read and one reply, no allocation, and no lock of ours.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/hot_path/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start
start_counting

image=$scratch/image
touch "$image"
mount_image --null 16M "$image" -o workers=1,queue_depth=32,spin=1000000
check_costs "$image"
unmount_image "$image"
