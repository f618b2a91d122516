#!/bin/bash
# Mounts come and go, in every way that they can, and leave nothing behind.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start

fuse=$RDMABLK_BIN/rdmablk-fuse
image=$scratch/image
touch "$image"

expect_nothing_left() {
  ! is_mounted "$image" || fail "$1: a mount is left"
  expect_equal "$1: processes left" "" "$(daemons)"
}

# Starts the daemon in the foreground, sets `pid`, and returns when its mount works.
serve() {
  coproc daemon { exec "$fuse" -f --null 1M "$image" "$@" 2>"$scratch/log"; }
  # shellcheck disable=SC2154 # coproc sets it
  pid=$daemon_PID
  local line
  IFS= read -r line <&"${daemon[0]}" || fail "it did not start: $(cat "$scratch/log")"
  expect_match "what it says" "The image is $image" "$line"
}

# ends STATUS WHAT
ends() {
  local status=0
  wait "$pid" || status=$?
  expect_equal "exit status after $2 ($(cat "$scratch/log"))" "$1" "$status"
}

# In a row, with some work in each; files that stay open would add up in /dev/fuse's connections.
for ((i = 0; i < 20; ++i)); do
  mount_image --null 4M "$image"
  dd if=/dev/zero of="$image" bs=1M count=4 conv=notrunc oflag=direct status=none
  unmount_image "$image"
done
expect_nothing_left "after 20 rounds"

# umount(8) does as well as fusermount3; the daemon need not be gone when the next one comes.
for ((i = 0; i < 20; ++i)); do
  mount_image --null 1M "$image"
  umount "$image"
done
while read -r pid _; do
  wait_for_exit "$pid" 30 || fail "process $pid did not end"
done < <(daemons)
expect_nothing_left "after 20 quick rounds"

# A mount namespace that was made meanwhile has the mount, too, and does not hear that it is gone.
mount_image --null 1M "$image"
pid=$(daemon_of "$image")
coproc holder { exec unshare --mount --propagation private bash -c 'echo; read -r'; }
# shellcheck disable=SC2154 # coproc sets it
read -r <&"${holder[0]}"
"$RDMABLK_BIN/rdmablk" unmount "$image" 2>"$scratch/unmount.log" &
unmount_pid=$!
# shellcheck disable=SC2154 # as well
wait_until "it is said who has it still" \
  grep --quiet "but process $holder_PID (bash) .* rdmablk-fuse (process $pid) goes on" "$scratch/unmount.log"
! is_mounted "$image" || fail "it is mounted still"
echo >&"${holder[1]}"
wait "$unmount_pid" || fail "unmounting failed: $(cat "$scratch/unmount.log")"
! is_running "$pid" || fail "process $pid runs still"
expect_nothing_left "after a namespace"

# The foreground: signals end it, with 0.
for signal in TERM INT HUP; do
  serve
  kill -"$signal" "$pid"
  ends 0 "SIG$signal"
  expect_nothing_left "after SIG$signal"
done
serve
fusermount3 -u "$image"
ends 0 "fusermount3 -u"
expect_nothing_left "after fusermount3 -u"

# The background, too.
mount_image --null 1M "$image"
pid=$(daemon_of "$image")
expect_equal "its directory" / "$(readlink "/proc/$pid/cwd")"
expect_equal "its terminal" "/dev/null /dev/null /dev/null" \
  "$(readlink "/proc/$pid/fd/0" "/proc/$pid/fd/1" "/proc/$pid/fd/2" | xargs)"
expect_equal "its session" "$pid" "$(ps --no-headers --format sid --pid "$pid" | xargs)"
kill -TERM "$pid"
wait_for_exit "$pid" 30 || fail "SIGTERM did not end it"
expect_nothing_left "after SIGTERM in the background"

# A mount in use ends, too; what has it open gets errors.
serve
exec 5<"$image"
kill -TERM "$pid"
ends 0 "SIGTERM while in use"
grep --quiet "in use" "$scratch/log" || fail "it did not say that it was in use: $(cat "$scratch/log")"
expect_error "." cat <&5
exec 5<&-
expect_nothing_left "after SIGTERM while in use"

# Under load. A killed program's requests are interrupted, which harms nobody; a daemon that ends
# leaves its users with errors.
serve --workers 2
exec 5<>"$image"
served() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; } # the daemon's time, in ticks
has_served() { (($(served) > before + 2)); }
start_load() {
  local before
  before=$(served)
  run_in_background fio --name=load --filename=/dev/fd/5 --rw=randrw --bs=4k --ioengine=psync \
    --numjobs=4 --thread --direct=1 --size=1M --time_based --runtime=60 --output="$scratch/fio" \
    2>"$scratch/fio.err"
  load=$!
  wait_until "fio reads" has_served
}
for i in {1..5}; do
  start_load
  kill -KILL "$load"
  wait "$load" || true
done
verify_with_fio "$image" 1M --rw=randwrite --ioengine=libaio --iodepth=8 --bs=4k
start_load
kill -TERM "$pid"
ends 0 "SIGTERM under load"
wait "$load" && fail "fio did not notice"
exec 5<&-
expect_nothing_left "after SIGTERM under load"

# A killed daemon leaves a dead mount, which the next one clears away.
for i in 1 2; do
  mount_image --null 1M "$image"
  pid=$(daemon_of "$image")
  kill -KILL "$pid"
  wait_for_exit "$pid" 30 || fail "SIGKILL did not end it"
  is_mounted "$image" || fail "the dead mount is gone by itself"
  expect_error "not connected|connection abort" stat "$image"
done
note=$("$fuse" --quiet --null 2M "$image" 2>&1)
expect_match "note" "cleared a dead mount of null from $image" "$note"
expect_equal "size of the new one" 2097152 "$(stat --format %s "$image")"
unmount_image "$image"
expect_nothing_left "after a dead mount"

# Somebody else's mount in its place is left alone.
serve
exec 5<"$image"
umount --lazy "$image"
mount_image --null 2M "$image"
kill -TERM "$pid"
exec 5<&-
ends 0 "SIGTERM after a lazy unmount"
is_mounted "$image" || fail "it took the next mount with it"
unmount_image "$image"
expect_nothing_left "in the end"
