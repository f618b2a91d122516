#!/bin/bash
# A target that vanishes: mounts that are told not to wait for it answer with I/O errors, do not hang, and
# can be unmounted.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote

image=$scratch/image
touch "$image"

answers_with_errors() {
  expect_error "Input/output error" dd if="$image" of=/dev/null bs=4k count=1 iflag=direct
  expect_error "Input/output error" dd if=/dev/zero of="$image" bs=4k count=1 oflag=direct conv=notrunc
}

reads_fail() { ! dd if="$image" of=/dev/null bs=4k count=1 iflag=direct status=none 2>/dev/null; }

# Killed while idle. The news takes a moment to arrive.
start_target --export "$(export_spec disk 16M)"
mount_export disk "$image" --fail-fast 0
kill_target
wait_until "reads fail" reads_fail
answers_with_errors
unmount_export "$image"

# Killed under load.
start_target --export "$(export_spec disk 16M)"
mount_export disk "$image" --fail-fast 0
run_in_background fio --name=load --filename="$image" --rw=randrw --bs=64k --ioengine=libaio --iodepth=32 \
  --direct=1 --size=16M --time_based --runtime=120 --output="$scratch/fio.log"
load=$!
has_written() { ! cmp --quiet --bytes=1M "$image" /dev/zero; }
wait_until "fio writes" has_written
kill_target
status=0
wait "$load" || status=$?
((status != 0)) || fail "fio did not notice: $(cat "$scratch/fio.log")"
answers_with_errors
unmount_export "$image"

# Stopped in an orderly way: the mount is told, and answers with errors as well.
start_target --export "$(export_spec disk 16M)"
mount_export disk "$image" --fail-fast 0
stop_target
wait_until "reads fail" reads_fail
answers_with_errors
unmount_export "$image"

# Mounting on a mount whose daemon died clears it away.
start_target --export "$(export_spec disk 16M)"
mount_export disk "$image"
pid=$(daemon_of "$image")
kill -KILL "$pid"
wait_for_exit "$pid" 30 || fail "SIGKILL did not end the daemon"
expect_error "not connected|connection abort" stat --cached=never "$image" # before 6.6 the kernel answers a plain one itself
"$rdmablk" mount "$(uri disk)" "$image" --quiet 2>"$scratch/note" || fail "mounting again: $(cat "$scratch/note")"
expect_match "what it notes" "cleared" "$(cat "$scratch/note")"
expect_equal "its size" $((16 << 20)) "$(stat --format %s "$image")"
unmount_export "$image"
stop_target
