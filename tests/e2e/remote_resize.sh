#!/bin/bash
# An export gets another size while a mount of it is worked on: the mounted file follows, and so does a
# loop device on it with its file system. A target that is killed meanwhile leaves the one size or the other.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
[[ -c /dev/loop-control ]] || skip "there are no loop devices"

readonly MiB=$((1 << 20))

# command_target: the target takes commands from a pipe.
command_target() {
  mkfifo "$scratch/commands"
  exec 9<>"$scratch/commands"
  mkdir --parents "$scratch/bin"
  [[ $RDMABLK_BIN == "$scratch/bin" ]] || ln -s "$RDMABLK_BIN"/* "$scratch/bin"
  rm "$scratch/bin/rdmablk-target"
  printf '#!/bin/sh\nexec %s "%s" "$@" <"%s"\n' "${RDMABLK_TEST_RUNNER:-}" "$tools/rdmablk-commanded-target" \
    "$scratch/commands" >"$scratch/bin/rdmablk-target"
  chmod +x "$scratch/bin/rdmablk-target"
  RDMABLK_BIN=$scratch/bin
}

answers() { grep --count --fixed-strings 'resize disk: ' "$target_log" || true; }
has_answered() { (($(answers) > $1)); }

# resize MIB
resize() {
  local before
  before=$(answers)
  echo "resize disk $(($1 * MiB))" >&9
  wait_until "the target has resized its export to $1 MiB" has_answered "$before"
  expect_equal "resizing to $1 MiB" "done" "$(sed -n 's/.*resize disk: //p' "$target_log" | tail -n 1)"
}

has_size() { [[ $(stat --format %s "$image") == $(($1 * MiB)) ]]; }

# work: on the first part, until it is told that it is enough.
work() {
  until [[ -e $scratch/enough ]]; do
    verify_with_fio "$image" 16M --ioengine=libaio --iodepth=16 --rw=randwrite --bsrange=512-64k \
      --blockalign=512 --io_size=4M --fsync=64
    echo round >>"$scratch/rounds"
  done
}
rounds() { wc --lines <"$scratch/rounds"; }
works_on() { (($(rounds) > $1)) || ! is_running "$worker"; }
await_round() { wait_until "fio goes on" works_on "$(rounds)"; }

# grow_file_system: while it is mounted, where root may do that.
grow_file_system() {
  resize2fs "$device" >"$scratch/resize2fs" 2>&1 && return
  grep --quiet 'Permission denied' "$scratch/resize2fs" || fail "$(cat "$scratch/resize2fs")"
  umount "$scratch/fs"
  fsck.ext4 -fp "$device" >"$scratch/fsck" 2>&1 || fail "$(cat "$scratch/fsck")"
  resize2fs "$device" >"$scratch/resize2fs" 2>&1 || fail "$(cat "$scratch/resize2fs")"
  mount "$device" "$scratch/fs"
}

command_target
start_target --export "$(export_spec disk 32M)"
image=$scratch/image
touch "$image"
mount_export disk "$image" --give-up 60
has_size 32 || fail "the mount has $(stat --format %s "$image") bytes at first"

: >"$scratch/rounds"
run_in_background work
worker=$!
await_round
for sizes in 64:48 40:20 60:32; do
  resize "${sizes%:*}"
  wait_until "the mount has ${sizes%:*} MiB" has_size "${sizes%:*}"
  expect_equal "blocks of the file system" $((${sizes%:*} * MiB / 512)) "$(stat --file-system --format %b "$image")"
  last=$((${sizes%:*} - 1))
  cmp --bytes="$MiB" --ignore-initial="${last}M:0" "$image" /dev/zero || fail "what was added is not zero"
  dd if=/dev/urandom of="$image" bs=1M count=1 seek="$last" oflag=direct conv=notrunc status=none
  resize "${sizes#*:}"
  wait_until "the mount has ${sizes#*:} MiB" has_size "${sizes#*:}"
  expect_error "No space left" dd if=/dev/zero of="$image" bs=1M count=1 seek="$last" oflag=direct conv=notrunc
  expect_equal "bytes up to the end" $((${sizes#*:} * MiB)) "$(dd if="$image" bs=1M iflag=direct status=none | wc --bytes)"
done
await_round
touch "$scratch/enough"
wait "$worker" || fail "fio saw an error: $(tail -n 20 "$scratch/fio.log")"
echo "$(rounds) rounds of fio"
expect_match "what info says" '32(\.0)? ?M' "$("$rdmablk" info "$(uri disk)")"

# A file system on a loop device grows with it.
mkdir "$scratch/fs"
device=$(losetup --direct-io=on --find --show "$image")
mkfs.ext4 -q "$device"
mount "$device" "$scratch/fs"
head --bytes=20M /dev/urandom >"$scratch/fs/old"
sum=$(sha256 "$scratch/fs/old")
resize 96
wait_until "the mount has 96 MiB" has_size 96
losetup --set-capacity "$device"
expect_equal "bytes of the loop device" $((96 * MiB)) "$(blockdev --getsize64 "$device")"
grow_file_system
head --bytes=50M /dev/urandom >"$scratch/fs/new"
expect_equal "an old file" "$sum" "$(sha256 "$scratch/fs/old")"
umount "$scratch/fs"
fsck.ext4 -fn "$device" >"$scratch/fsck" 2>&1 || fail "$(cat "$scratch/fsck")"
losetup --detach "$device"

begun() { grep --count 'is being resized from' "$target_log" || true; }
has_begun() { (($(begun) > $1)); }

# restart_target: with the same arguments, at the same place.
restart_target() {
  : >"$target_log"
  "$RDMABLK_BIN/rdmablk-target" --insecure --listen "$target" --state-dir "$scratch/state" \
    --export "$(export_spec disk 32M)" 2>"$target_log" &
  target_pid=$!
  test_pids+=("$target_pid")
  wait_until "the target listens again" target_listens_or_ended
  is_running "$target_pid" || fail "the target ended: $(cat "$target_log")"
}

if [[ $backing != memory ]]; then
  for size in 104 48 104; do
    before=$(stat --format %s "$(backing_file disk)")
    rest=$(sha256 "$image" 0 $((32 * MiB)))
    sync "$image"
    resizes=$(begun)
    echo "resize disk $((size * MiB))" >&9
    wait_until "the target begins" has_begun "$resizes"
    kill_target
    after=$(stat --format %s "$(backing_file disk)")
    [[ $after == "$before" || $after == $((size * MiB)) ]] || fail "the file has $after bytes, and had $before"
    restart_target
    resize "$size"
    wait_until "the mount has $size MiB" has_size "$size"
    expect_equal "what is left" "$rest" "$(sha256 "$image" 0 $((32 * MiB)))"
  done
fi
unmount_export "$image"
stop_target
