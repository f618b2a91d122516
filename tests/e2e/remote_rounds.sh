#!/bin/bash
# Mounts that come and go leave nothing behind: no process, no mount, no descriptor, no shared memory.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
start_target --export "$(export_spec disk 16M)"

image=$scratch/image
touch "$image"

# What could be left: on this host, and in the target.
left() {
  echo "processes: $(daemons)"
  echo "mounts: $(mounts_of '')"
  echo "shared memory: $(ls -A /dev/shm)"
  echo "descriptors of the target: $(find "/proc/$target_pid/fd" -mindepth 1 | wc -l)"
  echo "memory maps of the target: $(grep --count 'memfd\|uverbs' "/proc/$target_pid/maps")"
}

round() {
  mount_export disk "$image"
  dd if=/dev/urandom of="$image" bs=1M count=4 conv=notrunc oflag=direct status=none
  unmount_export "$image"
}

# The target hears of the end of a session a moment later.
same_as_before() { [[ $(left) == "$before" ]]; }

round # what is opened once and kept
wait_until "the first session ends" grep --quiet 'session 1: .* ended' "$target_log"
before=$(left)
for _ in {1..20}; do round; done
wait_until "nothing is left but
$before
there is
$(left)" same_as_before

# Initiators that die are forgotten, too.
for _ in {1..5}; do
  mount_export disk "$image"
  pid=$(daemon_of "$image")
  kill -KILL "$pid"
  wait_for_exit "$pid" 30 || fail "SIGKILL did not end the daemon"
done
"$rdmablk" unmount "$image"
wait_until "nothing is left of killed initiators but
$before
there is
$(left)" same_as_before
stop_target
expect_equal "shared memory" "$(sed -n 's/^shared memory: //p' <<<"$before")" "$(ls -A /dev/shm)"
